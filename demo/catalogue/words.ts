// The words and habits of the demo catalogue, from the files of demo/data. All names are invented.
import HABITS from '#demo/data/habits.json' with { type: 'json' }
import TEXTS from '#demo/data/texts.json' with { type: 'json' }

const list = (text: string): readonly string[] => text.split(' ')

export const ADJECTIVES = list(TEXTS.adjectives)
export const NOUNS = list(TEXTS.nouns)
export const SUFFIXES = list(TEXTS.suffixes)
export const ENDINGS = list(TEXTS.endings)
export const SHORT_WORDS = list(TEXTS.shortWords)
export const PREFIXES = list(TEXTS.prefixes)
export const FIRST_NAMES = list(TEXTS.firstNames)
export const HANDLE_WORDS = list(TEXTS.handleWords)
export const STUDIO_WORDS = list(TEXTS.studioWords)
export const ROLES = list(TEXTS.roles)

type Pair = readonly [string, string]

/** Names and their slugs. */
export const FOREIGN_NAMES = TEXTS.foreignNames as unknown as readonly Pair[]
export const QUESTIONS = TEXTS.questions as unknown as readonly Pair[]
/** Type of a report, its text, and the reply of the moderator who closes it. */
export const REPORTS = TEXTS.reports as unknown as readonly (readonly [string, string, string])[]
/** Names of collections and their descriptions. */
export const COLLECTIONS = TEXTS.collections as unknown as readonly Pair[]
/** Summaries by project type. In all sentences, {thing} is the theme of the project and {name} its name. */
export const SUMMARIES: Readonly<Record<string, readonly string[]>> = TEXTS.summaries

export const {
  authorsNotes: AUTHORS_NOTES,
  bios: BIOS,
  changelogNotes: CHANGELOG_NOTES,
  changes: CHANGES,
  closings: CLOSINGS,
  features: FEATURES,
  firstChanges: FIRST_CHANGES,
  intros: INTROS,
  moderatorsAnswers: MODERATORS_ANSWERS,
  otherSummaries: OTHER_SUMMARIES,
  rejection: REJECTION,
  stories: STORIES,
} = TEXTS

/** Probability of a loader within its project type, and the dates between which it was in use. */
export const LOADER_HABITS: Readonly<Record<string, { weight: number; since?: string; until?: string }>> =
  HABITS.loaderHabits

/** Files by which an archive shows its loader. */
export const LOADER_FILES: Readonly<Record<string, readonly string[]>> = HABITS.loaderFiles

/** Name of each loader in the index of a pack. */
export const PACK_LOADERS: Readonly<Record<string, string>> = HABITS.packLoaders
/** Version of the loader in the index of a pack. */
export const LOADER_VERSION = '0.15.11'

/** Probability of each project type; other types have the weight 1. */
export const TYPE_WEIGHTS: Readonly<Record<string, number>> = HABITS.typeWeights
/** Probability of each licence. */
export const LICENSES: Readonly<Record<string, number>> = HABITS.licenses
