// The languages of the pages. Texts are ICU messages in one file for each language; English is the source, whose keys
// all others have.
import { IntlMessageFormat } from 'intl-messageformat'
import type { Markup, Part } from './html.ts'
import german from './messages/de.json' with { type: 'json' }
import english from './messages/en.json' with { type: 'json' }
import { mirrorText } from './pseudo-language.ts'

export type MessageKey = keyof typeof english
type Messages = Readonly<Record<MessageKey, string>>

/** A number and a date are written as the language writes them. */
export type MessageValues = Readonly<Record<string, string | number | Date | null | undefined>>
/** Markup may stand for a name, and a function may wrap what a message has between `<name>` and `</name>`. */
export type RichValues = Readonly<Record<string, string | number | Date | Markup | ((chunks: Part) => Markup)>>

export type LanguageTag = 'en' | 'de' | 'ar-XB'

export type Language = {
  tag: LanguageTag
  dir: 'ltr' | 'rtl'
  /** The name of the language in itself. */
  name: string
  /** The text of a message. @throws Error when a value that it names is missing */
  t(key: MessageKey, values?: MessageValues): string
  /** The same as parts of a template, where values may be markup. */
  rich(key: MessageKey, values: RichValues): Part
}

const LANGUAGES: Readonly<Record<LanguageTag, Language>> = {
  en: createLanguage({ tag: 'en', dir: 'ltr', name: 'English', messages: english }),
  de: createLanguage({ tag: 'de', dir: 'ltr', name: 'Deutsch', messages: german }),
  // For tests of layout: English between marks that turn it round. Only its cookie chooses it, and no page offers it.
  'ar-XB': createLanguage({ tag: 'ar-XB', dir: 'rtl', name: 'Pseudo', messages: english, rewrite: mirrorText }),
}

export const DEFAULT_LANGUAGE = LANGUAGES.en
/** What a visitor may choose, in the order of lists. */
export const OFFERED_LANGUAGES: readonly Language[] = [LANGUAGES.en, LANGUAGES.de]

/** The language with this tag; undefined for any other text. */
export function languageOf(tag: string): Language | undefined {
  return Object.hasOwn(LANGUAGES, tag) ? LANGUAGES[tag as LanguageTag] : undefined
}

/** The language of a page: what the cookie says, else the offered one that the browser likes best, else English. */
export function chooseLanguage(cookie: string | undefined, acceptLanguage: string | undefined): Language {
  const chosen = cookie === undefined ? undefined : languageOf(cookie)
  if (chosen !== undefined) return chosen
  for (const tag of acceptedTags(acceptLanguage ?? '')) {
    const offered = OFFERED_LANGUAGES.find((language) => tag === language.tag || tag.startsWith(`${language.tag}-`))
    if (offered !== undefined) return offered
  }
  return DEFAULT_LANGUAGE
}

/** More than any browser sends; the rest of a longer header is not looked at. */
const ACCEPTED_MAX = 32

/** The tags of `Accept-Language` in small letters, best first, without those of weight 0 (RFC 9110, 12.5.4). */
function acceptedTags(header: string): string[] {
  return header
    .slice(0, 1024)
    .split(',', ACCEPTED_MAX)
    .map((entry) => {
      const [tag = '', ...parameters] = entry
        .trim()
        .toLowerCase()
        .split(/\s*;\s*/)
      const weight = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2)
      return { tag, weight: weight === undefined ? 1 : Number(weight) }
    })
    .filter(({ tag, weight }) => tag !== '' && weight > 0)
    .sort((a, b) => b.weight - a.weight)
    .map(({ tag }) => tag)
}

type Definition = Pick<Language, 'tag' | 'dir' | 'name'> & {
  messages: Messages
  rewrite?: (text: string) => string
}

function createLanguage({ tag, dir, name, messages, rewrite = (text) => text }: Definition): Language {
  const compiled = new Map<MessageKey, IntlMessageFormat>()
  const compile = (key: MessageKey): IntlMessageFormat => {
    const message = compiled.get(key) ?? new IntlMessageFormat(messages[key], tag)
    compiled.set(key, message)
    return message
  }
  const toPart = (piece: string | Markup): Part => (typeof piece === 'string' ? rewrite(piece) : piece)
  return {
    tag,
    dir,
    name,
    t: (key, values) => {
      // Most messages are plain text, and not worth the walk through their parts.
      const isPlain = values === undefined && !/[{<']/.test(messages[key])
      return rewrite(isPlain ? messages[key] : String(compile(key).format(values)))
    },
    rich: (key, values) => {
      const prepared = Object.fromEntries(
        Object.entries(values).map(([name, value]) => [
          name,
          typeof value === 'function' ? (chunks: (string | Markup)[]) => value(chunks.map(toPart)) : value,
        ]),
      )
      const pieces = compile(key).format<Markup>(prepared)
      return Array.isArray(pieces) ? pieces.map(toPart) : toPart(pieces)
    },
  }
}
