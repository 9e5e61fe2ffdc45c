// Names of demo projects, people and organizations, and their slugs.
import type { Random } from '#demo/catalogue/random.ts'
import * as words from '#demo/catalogue/words.ts'

export type DemoName = { name: string; theme: string; slugText: string }

/** Returns a project name of 3 to 64 characters in one of many patterns; `theme` is its subject in lower case. */
export function projectName(random: Random, projectType: string, isLibrary: boolean): DemoName {
  const noun = random.pick(words.NOUNS)
  const theme = noun.toLowerCase()
  if (isLibrary)
    return named(`${random.pick(words.ADJECTIVES)} ${random.pick(['Lib', 'API', 'Core', 'Library'])}`, theme)
  if (random.chance(0.02)) {
    const [name, slugText] = random.pick(words.FOREIGN_NAMES)
    return { name, theme, slugText: slugText === '' ? name : slugText }
  }
  const base = baseName(random, noun)
  switch (projectType) {
    case 'modpack':
      return named(
        random.pick([`${base} Pack`, `Project ${base}`, `${base} Odyssey`, `${base}: Season ${random.integer(2, 6)}`]),
        theme,
      )
    case 'shader':
      return named(`${base} ${random.pick(['Shaders', 'Light', 'Shading'])}`, theme)
    case 'resourcepack':
      return named(`${base} ${random.pick(['16x', '32x', '64x', '128x', 'Textures', 'Pack'])}`, theme)
    case 'datapack':
      return named(random.chance(0.4) ? `${base} Tweaks` : base, theme)
    default:
      return named(base, theme)
  }
}

function named(name: string, theme: string): DemoName {
  return { name, theme, slugText: name }
}

function baseName(random: Random, noun: string): string {
  const adjective = random.pick(words.ADJECTIVES)
  const single = noun
    .replace(/ies$/, 'y')
    .replace(/(ss|ch|sh|x)es$/, '$1')
    .replace(/([^s])s$/, '$1')
  const patterns: readonly (readonly [number, () => string])[] = [
    [30, () => `${adjective} ${noun}`],
    [12, () => `${single}${random.pick(words.SUFFIXES)}`],
    [9, () => `${noun} ${random.pick(words.ENDINGS)}`],
    [8, () => `${random.pick(words.FIRST_NAMES)}'s ${noun}`],
    [8, () => `${random.pick(words.PREFIXES)}-${random.pick(words.SHORT_WORDS)}`],
    [7, () => `${noun} & ${random.pick(words.NOUNS)}`],
    [6, () => `${noun} ${random.integer(2, 9)}`],
    [6, () => `More ${noun}`],
    [5, () => `${adjective}${single}`],
    [4, () => acronym([adjective, noun, random.pick(words.NOUNS)])],
    [3, () => `No ${noun}!`],
    [2, () => `${noun} ${random.integer(1, 9)}000`],
  ]
  const [, make] = random.weighted(patterns, ([weight]) => weight)
  return make()
}

function acronym(parts: readonly string[]): string {
  return `${parts.map((part) => part.charAt(0)).join('')} (${parts.join(' ')})`
}

/** Returns a username of 1 to 39 letters, digits, dots, underscores and hyphens. */
export function personName(random: Random): string {
  const first = random.pick(words.FIRST_NAMES)
  const handle = random.pick(words.HANDLE_WORDS)
  const other = random.pick(words.HANDLE_WORDS)
  return random.pick([
    `${first}_${handle}`,
    `${first.toLowerCase()}${random.integer(2, 99)}`,
    `${handle}${other}`,
    `${handle}-${other}`,
    `x${handle}${random.integer(100, 999)}x`,
    `${first}.${handle}`,
  ])
}

export function organizationName(random: Random): string {
  return `${random.pick(words.ADJECTIVES)} ${random.pick(words.HANDLE_WORDS)} ${random.pick(words.STUDIO_WORDS)}`.replace(
    / [a-z]/,
    (match) => match.toUpperCase(),
  )
}

// Letters without a separable accent.
const LETTERS: Readonly<Record<string, string>> = { ø: 'o', ł: 'l', ß: 'ss', æ: 'ae', œ: 'oe', đ: 'd' }

/**
 * Returns a new slug for `text`: lower case, words joined by hyphens, 3 to 60 characters. Adds the slug to `usedSlugs`.
 */
export function addSlug(text: string, usedSlugs: Set<string>): string {
  const plain = text
    .toLowerCase()
    .replace(/[øłßæœđ]/g, (letter) => LETTERS[letter] ?? '')
    .normalize('NFD')
    .replace(/[\p{M}'’!]/gu, '')
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, 54)
    .replace(/^-+|-+$/g, '')
  const base = plain.length >= 3 ? plain : `${plain}-demo`.replace(/^-/, '')
  let slug = base
  for (let n = 2; usedSlugs.has(slug); n += 1) slug = `${base}-${n}`
  usedSlugs.add(slug)
  return slug
}
