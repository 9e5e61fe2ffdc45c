// Summaries, descriptions and changelogs of demo projects.
import type { Random } from '#demo/catalogue/random.ts'
import * as words from '#demo/catalogue/words.ts'

type Subject = { name: string; theme: string }

/** Facts that a description can mention. */
export type DescriptionFacts = {
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

type Describe = (random: Random, subject: Subject, facts: DescriptionFacts) => string[]

/** Kinds of descriptions with their weights. */
const KINDS: readonly (readonly [Describe, number])[] = [
  [full, 40],
  [short, 25],
  [manual, 20],
  [story, 15],
]

/**
 * Returns Markdown of about 250 to 3,000 characters, of one of several kinds. The line `{picture}` is a placeholder for an
 * image of the project.
 */
export function demoDescription(random: Random, subject: Subject, facts: DescriptionFacts): string {
  const [describe] = random.weighted(KINDS, ([, weight]) => weight)
  return describe(random, subject, facts).join('\n\n')
}

/** Returns an introduction, features, and sometimes a table and an FAQ. */
function full(random: Random, subject: Subject, { needs }: DescriptionFacts): string[] {
  const say = (text: string) => fill(random, text, subject)
  const parts = [`# ${subject.name}`, say(random.pick(words.INTROS)), '{picture}', '## What it does']
  parts.push(bullets(random.sample(words.FEATURES, random.integer(3, 8)).map(say)), ...needed(needs))
  if (random.chance(0.35)) {
    const rows = ['small', 'medium', 'large'].map(
      (size) => `| ${size} | ${random.integer(1, 64)} | ${random.chance(0.5) ? 'yes' : 'no'} |`,
    )
    parts.push('## Sizes', ['| size | slots | can be moved |', '|---|---:|---|', ...rows].join('\n'))
  }
  if (random.chance(0.5)) parts.push('## Questions', ...questions(random))
  if (random.chance(0.2)) parts.push(`> Thanks to everyone who sent screenshots of their ${subject.theme}.`)
  return parts
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
  const say = (text: string) => fill(random, text, subject)
  const command = subject.theme.replaceAll(/[^a-z]/g, '').slice(0, 12)
  const isServer = projectType === 'plugin' || projectType === 'datapack'
  return [
    say(random.pick(words.INTROS)),
    '## Installation',
    [
      '1. Download the version that fits your game.',
      isServer
        ? '2. Put the file into the folder of the server and start it again.'
        : '2. Put the file into the folder of your game.',
      '3. Start once, so that the settings are written.',
    ].join('\n'),
    ...needed(needs),
    '## Settings',
    [
      '```toml',
      '[general]',
      `${command}_per_chunk = ${random.integer(2, 24)}`,
      `announce = ${random.chance(0.5)}`,
      '```',
    ].join('\n'),
    ...(isServer
      ? [
          '## Commands',
          [
            '| command | what it does |',
            '|---|---|',
            `| \`/${command} list\` | Shows all ${subject.theme} |`,
            `| \`/${command} reload\` | Reads the settings again |`,
          ].join('\n'),
        ]
      : ['{picture}']),
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
    `<details><summary>Credits</summary>\n\n${bullets(random.sample(words.FIRST_NAMES, 3).map((name) => `${name}: ${random.pick(words.ROLES).toLowerCase()}`))}\n\n</details>`,
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

/** Returns Markdown, empty for one version in seven, like those of real authors. */
export function demoChangelog(random: Random, subject: Subject): string {
  if (random.chance(1 / 7)) return ''
  const changes = random.sample(words.CHANGES, random.integer(1, 4))
  return changes.map((change) => `- ${fill(random, change, subject)}`).join('\n')
}
