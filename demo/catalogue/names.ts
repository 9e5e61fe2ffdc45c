// Names of demo projects, people and organizations, and their slugs.
import type { Random } from '#demo/catalogue/random.ts'
import * as words from '#demo/catalogue/words.ts'

export type DemoName = { name: string; theme: string; slugText: string }

/** Forms of names by project type; `*` is a name of any type. */
const FORMS: Readonly<Record<string, readonly string[]>> = {
  library: ['* Lib', '* API', '* Core', '* Library'],
  modpack: ['* Pack', 'Project *', '* Odyssey', '*: Season 2', '*: Season 5'],
  shader: ['* Shaders', '* Light', '* Shading'],
  resourcepack: ['* 16x', '* 32x', '* 64x', '* 128x', '* Textures', '* Pack'],
  datapack: ['* Tweaks', '*'],
}

/** Returns a project name of 3 to 64 characters in one of many patterns; `theme` is its subject in lower case. */
export function projectName(random: Random, projectType: string, isLibrary: boolean): DemoName {
  const noun = random.pick(words.NOUNS)
  const theme = noun.toLowerCase()
  if (!isLibrary && random.chance(0.02)) {
    const [name, slugText] = random.pick(words.FOREIGN_NAMES)
    return { name, theme, slugText }
  }
  const base = isLibrary ? random.pick(words.ADJECTIVES) : baseName(random, noun)
  const name = random.pick(FORMS[isLibrary ? 'library' : projectType] ?? ['*']).replace('*', () => base)
  return { name, theme, slugText: name }
}

function baseName(random: Random, noun: string): string {
  const adjective = random.pick(words.ADJECTIVES)
  const other = random.pick(words.NOUNS)
  const single = noun
    .replace(/ies$/, 'y')
    .replace(/(ss|ch|sh|x)es$/, '$1')
    .replace(/([^s])s$/, '$1')
  const initials = [adjective, noun, other].map((word) => word.charAt(0)).join('')
  return random.weighted({
    [`${adjective} ${noun}`]: 30,
    [`${single}${random.pick(words.SUFFIXES)}`]: 12,
    [`${noun} ${random.pick(words.ENDINGS)}`]: 9,
    [`${random.pick(words.FIRST_NAMES)}'s ${noun}`]: 8,
    [`${random.pick(words.PREFIXES)}-${random.pick(words.SHORT_WORDS)}`]: 8,
    [`${noun} & ${other}`]: 7,
    [`${noun} ${random.integer(2, 9)}`]: 6,
    [`More ${noun}`]: 6,
    [`${adjective}${single}`]: 5,
    [`${initials} (${adjective} ${noun} ${other})`]: 4,
    [`No ${noun}!`]: 3,
  })
}

/** Returns a username of 1 to 39 letters, digits, dots, underscores and hyphens. */
export function personName(random: Random): string {
  const first = random.pick(words.FIRST_NAMES)
  const [handle, other] = [random.pick(words.HANDLE_WORDS), random.pick(words.HANDLE_WORDS)]
  const number = random.integer(2, 999)
  return random.pick([
    `${first.toLowerCase()}${number}`,
    `${handle}${other}`,
    `${handle}-${other}`,
    `x${handle}${number}x`,
    `${first}.${handle}`,
  ])
}

export function organizationName(random: Random): string {
  const handle = random.pick(words.HANDLE_WORDS)
  const second = handle.charAt(0).toUpperCase() + handle.slice(1)
  return `${random.pick(words.ADJECTIVES)} ${second} ${random.pick(words.STUDIO_WORDS)}`
}

/** Returns a new slug for `text`: lower case, words joined by hyphens. Adds the slug to `usedSlugs`. */
export function addSlug(text: string, usedSlugs: Set<string>): string {
  const base = text
    .toLowerCase()
    .replace(/['!]/g, '')
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, 54)
    .replace(/^-|-$/g, '')
  let slug = base
  for (let n = 2; usedSlugs.has(slug); n += 1) slug = `${base}-${n}`
  usedSlugs.add(slug)
  return slug
}
