// The languages of the pages. Texts are ICU messages, in one folder per language with one file per area. English is the source; all other languages
// have the same keys.
import { IntlMessageFormat } from 'intl-messageformat'
import { acceptedLanguage, LANGUAGE_TAGS, type OfferedTag } from '#lib/languages.ts'
import type { Markup, Part } from './html.ts'
import { english } from './messages/english.ts'
import { german } from './messages/german.ts'

export type MessageKey = keyof typeof english
/** Whether a text is the key of a message. */
export const isMessageKey = (text: string): text is MessageKey => Object.hasOwn(english, text)
type Messages = Readonly<Record<MessageKey, string>>

/** Values of a message. Numbers and dates are formatted for the language. */
export type MessageValues = Readonly<Record<string, string | number | Date | null | undefined>>
/** Values that can be markup. A function wraps the part of a message between `<name>` and `</name>`. */
export type RichValues = Readonly<Record<string, string | number | Date | Markup | ((chunks: Part) => Markup)>>

export type LanguageTag = OfferedTag | 'ar-XB'

export type Language = {
  tag: LanguageTag
  dir: 'ltr' | 'rtl'
  /** Name of the language in that language. */
  name: string
  /** Returns the text of a message. @throws Error if a value is missing. */
  t(key: MessageKey, values?: MessageValues): string
  /** Returns a message as parts of a template, with values that can be markup. */
  rich(key: MessageKey, values: RichValues): Part
}

/** Returns the text with each word between the characters that make browsers show it from right to left. */
const mirrored = (text: string): string => text.replace(/\S+/g, '\u202e$&\u202c')

const LANGUAGES: Readonly<Record<LanguageTag, Language>> = {
  en: createLanguage({ tag: 'en', dir: 'ltr', name: 'English', messages: english }),
  de: createLanguage({ tag: 'de', dir: 'ltr', name: 'Deutsch', messages: german }),
  // For layout tests: English with each word reversed for display. Text that a page shows in plain English is not a
  // message, and content on the wrong side has a style rule with a fixed side. Only a cookie selects it.
  'ar-XB': createLanguage({ tag: 'ar-XB', dir: 'rtl', name: 'Pseudo', messages: english, rewrite: mirrored }),
}

export const DEFAULT_LANGUAGE = LANGUAGES.en
/** Languages that visitors can choose, in the order of lists. */
export const OFFERED_LANGUAGES: readonly Language[] = LANGUAGE_TAGS.map((tag) => LANGUAGES[tag])

/** Returns the name of a value of the API, such as a status: the message with this key, otherwise the value. */
export const messageOr = ({ t }: Language, key: string, value: string): string => (isMessageKey(key) ? t(key) : value)

/** Returns the language with this tag, or undefined. */
export function languageOf(tag: string): Language | undefined {
  return Object.hasOwn(LANGUAGES, tag) ? LANGUAGES[tag as LanguageTag] : undefined
}

/** Returns the language of a page: from the cookie, otherwise the best match for the browser, otherwise English. */
export function chooseLanguage(cookie: string | undefined, acceptLanguage: string | undefined): Language {
  const chosen = cookie === undefined ? undefined : languageOf(cookie)
  if (chosen !== undefined) return chosen
  const accepted = acceptedLanguage(acceptLanguage)
  return accepted === undefined ? DEFAULT_LANGUAGE : LANGUAGES[accepted]
}

type Definition = Pick<Language, 'tag' | 'dir' | 'name'> & { messages: Messages; rewrite?: (text: string) => string }

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
      // Most messages are plain text and need no formatting.
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
