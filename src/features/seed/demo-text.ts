// Summaries, descriptions and changelogs of demo projects.
import type { Random } from './demo-random.ts'
import * as words from './demo-words.ts'

type Subject = { name: string; theme: string }

function fill(random: Random, text: string, subject: Subject): string {
  return text
    .replaceAll('{name}', subject.name)
    .replaceAll('{thing}', subject.theme)
    .replaceAll('{count}', () => String(random.integer(3, 60)))
}

/** One sentence, 3-255 characters. */
export function demoSummary(random: Random, subject: Subject, projectType: string): string {
  const sentences = words.SUMMARIES[projectType] ?? words.OTHER_SUMMARIES
  return fill(random, random.pick(sentences), subject)
}

/** Markdown of about 400 to 2,500 characters: an introduction, features, and sometimes a table and questions. */
export function demoDescription(random: Random, subject: Subject, dependencies: readonly string[]): string {
  const say = (text: string) => fill(random, text, subject)
  const parts = [`# ${subject.name}`, say(random.pick(words.INTROS)), '## What it does']
  parts.push(
    random
      .sample(words.FEATURES, random.integer(3, 8))
      .map((feature) => `- ${say(feature)}`)
      .join('\n'),
  )
  if (dependencies.length > 0) {
    parts.push('## Needs', dependencies.map((slug) => `- \`${slug}\``).join('\n'))
  }
  if (random.chance(0.35)) {
    const rows = ['small', 'medium', 'large'].map(
      (size) => `| ${size} | ${random.integer(1, 64)} | ${random.chance(0.5) ? 'yes' : 'no'} |`,
    )
    parts.push('## Sizes', ['| size | slots | can be moved |', '|---|---|---|', ...rows].join('\n'))
  }
  if (random.chance(0.5)) {
    const asked = random.sample(words.QUESTIONS, random.integer(1, 3))
    parts.push('## Questions', ...asked.map(([question, answer]) => `**${question}**\n\n${answer}`))
  }
  if (random.chance(0.2)) parts.push(`> Thanks to everybody who sent pictures of their ${subject.theme}.`)
  return parts.join('\n\n')
}

/** Markdown, empty for one version in seven: real authors forget. */
export function demoChangelog(random: Random, subject: Subject): string {
  if (random.chance(1 / 7)) return ''
  const changes = random.sample(words.CHANGES, random.integer(1, 4))
  return changes.map((change) => `- ${fill(random, change, subject)}`).join('\n')
}
