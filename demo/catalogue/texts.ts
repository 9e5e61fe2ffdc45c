// Summaries, descriptions and changelogs of demo projects.
import type { Random } from '#demo/catalogue/random.ts'
import * as words from '#demo/catalogue/words.ts'

type Subject = { name: string; theme: string }

/** Facts that a description can mention. */
type DescriptionFacts = {
  projectType: string
  /** Slugs of projects that it needs. */
  needs: readonly string[]
}

function fill(random: Random, text: string, subject: Subject): string {
  return text
    .replaceAll('{name}', subject.name)
    .replaceAll('{thing}', subject.theme)
    .replaceAll('{count}', () => String(random.integer(3, 60)))
}

/** Returns a summary: one sentence of 3 to 255 characters. */
export function demoSummary(random: Random, subject: Subject, projectType: string): string {
  const sentences = words.SUMMARIES[projectType] ?? words.OTHER_SUMMARIES
  return fill(random, random.pick(sentences), subject)
}

/**
 * Returns Markdown of about 250 to 3,000 characters, of one of several kinds. The line `{picture}` is a placeholder for an
 * image of the project.
 */
export function demoDescription(random: Random, subject: Subject, facts: DescriptionFacts): string {
  const describe = random.pick([full, full, short, manual, story])
  return describe(random, subject, facts).join('\n\n')
}

/** Returns an introduction, features, and sometimes an FAQ. */
function full(random: Random, subject: Subject, { needs }: DescriptionFacts): string[] {
  const say = (text: string) => fill(random, text, subject)
  return [
    ...[`# ${subject.name}`, say(random.pick(words.INTROS)), '{picture}', '## What it does'],
    bullets(random.sample(words.FEATURES, random.integer(3, 8)).map(say)),
    ...needed(needs),
    ...(random.chance(0.5) ? ['## Questions', ...questions(random)] : []),
  ]
}

/** Returns a few paragraphs without a heading. */
function short(random: Random, subject: Subject, { needs }: DescriptionFacts): string[] {
  const say = (text: string) => fill(random, text, subject)
  const [first = '', second = ''] = random.sample(words.FEATURES, 2)
  return [
    `${say(random.pick(words.INTROS))} ${say(random.pick(words.CLOSINGS))}`,
    `The most popular feature: *${say(first)}*. The most difficult one: *${say(second)}*.`,
    '{picture}',
    ...(needs.length === 0 ? [] : [`Needs ${needs.map(linkTo).join(' and ')}.`]),
  ]
}

/** Returns a manual with installation, settings and commands. */
function manual(random: Random, subject: Subject, { needs, projectType }: DescriptionFacts): string[] {
  const command = subject.theme.replaceAll(/[^a-z]/g, '').slice(0, 12)
  const place = projectType === 'plugin' || projectType === 'datapack' ? 'server' : 'game'
  const settings = [`${command}_per_chunk = ${random.integer(2, 24)}`, `announce = ${random.chance(0.5)}`]
  return [
    fill(random, random.pick(words.INTROS), subject),
    '## Installation',
    `1. Download the version that fits your game.\n2. Put the file into the folder of the ${place}.\n3. Start it again.`,
    ...needed(needs),
    '## Settings',
    ['```toml', '[general]', ...settings, '```'].join('\n'),
    '## Commands',
    `| command | what it does |\n|---|---|\n| \`/${command} list\` | Shows all ${subject.theme} |`,
    '{picture}',
    ...questions(random),
  ]
}

/** Returns the history of the project and its plans. */
function story(random: Random, subject: Subject, { needs }: DescriptionFacts): string[] {
  const say = (text: string) => fill(random, text, subject)
  const [done = '', next = '', later = ''] = random.sample(words.FEATURES, 3)
  return [
    '{picture}',
    `**${subject.name}** ${say(random.pick(words.STORIES))}`,
    say(random.pick(words.CLOSINGS)),
    '### Where it goes from here',
    [`- [x] ${say(done)}`, `- [ ] ${say(next)}`, `- [ ] ${say(later)}`].join('\n'),
    ...needed(needs),
    `<details><summary>Credits</summary>\n\n${bullets(random.sample(words.FIRST_NAMES, 3))}\n\n</details>`,
  ]
}

function bullets(lines: readonly string[]): string {
  return lines.map((line) => `- ${line}`).join('\n')
}

function linkTo(slug: string): string {
  return `[${slug}](/project/${slug})`
}

function needed(slugs: readonly string[]): string[] {
  return slugs.length === 0 ? [] : ['## Needs', bullets(slugs.map(linkTo))]
}

function questions(random: Random): string[] {
  return random
    .sample(words.QUESTIONS, random.integer(1, 3))
    .map(([question, answer]) => `**${question}**\n\n${answer}`)
}

/** Returns the changelog of the first version. */
export function demoFirstChangelog(random: Random, subject: Subject): string {
  return fill(random, random.pick(words.FIRST_CHANGES), subject)
}

/** Returns Markdown, empty for one version in seven, like those of real authors. */
export function demoChangelog(random: Random, subject: Subject): string {
  if (random.chance(1 / 7)) return ''
  const changes = random.sample(words.CHANGES, random.integer(1, 5)).map((change) => fill(random, change, subject))
  const list = changes.map((change) => `- ${change.slice(0, 1).toUpperCase()}${change.slice(1)}`).join('\n')
  return random.chance(0.3) ? `${fill(random, random.pick(words.CHANGELOG_NOTES), subject)}\n\n${list}` : list
}
