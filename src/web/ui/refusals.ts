// Frequent errors of the API in the language of the page. The API and its errors are English; an error that is not in the
// table keeps its text, marked with its language.
import { type Language, type MessageKey, messageOr } from './languages.ts'

type Values = Readonly<Record<string, string | number>>

/** An error with a message in the language `lang`. `reason`: the message without the prefix that names the field. */
type Refused = { message: string; lang?: string | undefined; reason?: string }

/** Texts of errors with the messages that replace them. Groups of a pattern are the values of its message. */
const TABLE: readonly (readonly [pattern: RegExp, key: MessageKey])[] = [
  // Rules of a field. The text continues a sentence that begins with the name of the field.
  [/^(?:is required|must not be (?:blank|empty)|must be chosen)\b/, 'refusal.required'],
  [/^must (?:have|be) at least 1 (?:character|item)\b/, 'refusal.required'],
  [/^must (?:have|be) at least (?<count>\d+) characters\b/, 'refusal.short'],
  [/^must (?:have|be) at most (?<count>\d+) characters?\b/, 'refusal.long'],
  [/^must have at most (?<count>\d+) items?\b/, 'refusal.items'],
  [/^must be at most (?<count>\d+)$/, 'refusal.items'],
  [/^is (?:taken|reserved)$/, 'refusal.taken'],
  [/^must be an? (?:integer|number) from (?<min>-?\d+) to (?<max>-?\d+)(?: or null)?$/, 'refusal.range'],
  [/^must be an? (?:integer|number) of at least (?<min>-?\d+)$/, 'refusal.least'],
  [/^must be an? (?:integer|number)$/, 'refusal.number'],
  [/^must be a whole number, such as 30$/, 'refusal.days'],
  [/^must be greater than 0$/, 'refusal.positive'],
  [/^must be one of\b|^is not in the list$/, 'refusal.choice'],
  [/^must be an email address/, 'refusal.email'],
  [/^must be an http or https URL/, 'refusal.url'],
  [/^must be an https URL/, 'refusal.https'],
  [/^must be a date\b/, 'refusal.date'],
  [/^must be a time such as/, 'refusal.time'],
  [/^must be (?:a time )?in the future/, 'refusal.future'],
  [/^must not be in the future$/, 'refusal.past'],
  [/^must be 3-64 letters A-Z, digits, dots/, 'refusal.slug'],
  [/^must be 3-64 letters A-Z, digits or hyphens/, 'refusal.organization-slug'],
  [/^must be 1(?:-| to )39 letters/, 'refusal.username'],
  [/^is too easy to guess/, 'refusal.password-strength'],
  [/^is not the name of a user$/, 'refusal.user'],
  [/^does not match your username$/, 'refusal.own-name'],
  [/^is already in the list$/, 'refusal.listed'],
  [/^is already a member of this team or invited to it$/, 'refusal.member'],
  [/^must be (?<text>[^\s]+)$/, 'refusal.exactly'],
  [/^must not be at this domain, which the service has blocked$/, 'refusal.blocked-domain'],
  [/^turn on two-factor sign-in for your own account first$/, 'refusal.own-two-factor'],
  // Whole sentences.
  [/^Moderators and admins of this instance need two-factor sign-in\b/, 'refusal.two-factor'],
  [/^This service does not accept new accounts from your network$/, 'refusal.blocked-network'],
  [/^Too many new accounts from your network\b/, 'refusal.sign-ups'],
  [/^A moderator must approve your account before you can publish$/, 'refusal.approval'],
  [/^The username or the password is wrong$/, 'refusal.sign-in'],
  [/^The password is wrong$/, 'refusal.password'],
  [/^The code is wrong(?:, or the sign-in has expired)?$/, 'refusal.code'],
  [/^The passkey was (?:not accepted|deleted, or used by)|^The request for a passkey was used/, 'refusal.passkey'],
  [/^This site does not know the passkey$/, 'refusal.passkey-unknown'],
  [/^This is your only way to sign in\b/, 'refusal.only-sign-in'],
  [/^The captcha was not solved$/, 'refusal.captcha'],
  [/^The link is unknown, was used, or has expired$/, 'refusal.link'],
  [/^The link is incomplete or was changed$/, 'refusal.link-changed'],
  [/^This (?:slug|username) is (?:taken|reserved)$/, 'refusal.taken'],
  [/^Another account has this email address$/, 'refusal.email-taken'],
  [/^(?:This )?is already the (?:email )?address of this account$/, 'refusal.email-unchanged'],
  [/^The requested .+ does not exist$/, 'refusal.absent'],
  [/^User not found\. Check the spelling$/, 'refusal.user'],
  [/^User not found\. Did you mean (?<name>\S+)\?$/, 'refusal.user-similar'],
  [/^You have reached your limit for .+ \((?<max>\d+)\)$/, 'refusal.limit'],
  [/^Another user changed the same fields/, 'refusal.conflict'],
  [/^Another user has changed the visibility since then/, 'refusal.visibility'],
  [/ since you opened (?:it|this project)$/, 'refusal.seen'],
  [/^This decision can no longer be undone$/, 'refusal.undone'],
  [/^These projects are no longer under review$/, 'refusal.reviewed'],
  [/^An appeal is decided on the page of its project\b/, 'refusal.appeal'],
  [/^Select at least one project$/, 'refusal.select'],
  [/^Choose an image first$/, 'refusal.image'],
  [/^The image must be at most (?<size>[\d.]+ [KM]iB)$/, 'refusal.image-size'],
  [/^The images must be at most (?<size>[\d.]+ [KM]iB) together$/, 'refusal.images-size'],
  // Files and dependencies of versions.
  [/^The file in part \S+ must be an archive$/, 'refusal.file-archive'],
  [/^The file is not a zip archive, or it is incomplete$/, 'refusal.file-unreadable'],
  [/^Another project already contains this file$/, 'refusal.file-elsewhere'],
  [/^Another project published (?<name>.+) first\b/, 'refusal.file-earlier'],
  [/^The version already has a file named (?<name>.+)$/, 'refusal.file-name'],
  [/^Two files of this request are named (?<name>.+)$/, 'refusal.file-names'],
  [/^The file in part \S+ has the same content as another file\b/, 'refusal.file-same'],
  [/^At least one file part is required$/, 'refusal.file-required'],
  [/^The moderators of this instance blocked the file (?<name>.+)$/, 'refusal.file-blocked'],
  [/^The loaders (?<loaders>.+) do not accept files with the extension (?<extension>\S+)$/, 'refusal.file-loaders'],
  [/^The file name of part \S+ must end in one of the extensions (?<extensions>.+)$/, 'refusal.file-extension'],
  [/^The archive has no (?<name>\S+)$/, 'refusal.file-without'],
  [/^The archive has neither (?<name>\S+) nor (?<other>\S+)$/, 'refusal.file-neither'],
  [/^The archive looks like a content pack, not a single mod$/, 'refusal.file-pack'],
  [/^The only file of a version cannot be deleted\b/, 'refusal.file-only'],
  [/^A version can have at most (?<count>\d+) files$/, 'refusal.files-max'],
  [/^The project already has a version with this number and these files$/, 'refusal.version-number'],
  [/^must be the ID of a project that you can see$/, 'refusal.dependency-project'],
  [/^must be the ID of a version that you can see$/, 'refusal.dependency-version'],
  [/^must be the ID of a version of the project in project_id$/, 'refusal.dependency-other'],
  [/^cannot contain the version itself$/, 'refusal.dependency-self'],
  [/^is listed twice$/, 'refusal.twice'],
  [/^The link must lead to a video of YouTube or Vimeo$/, 'refusal.video'],
  [/^Only (?<amount>[\d.]+) is available$/, 'refusal.available'],
  [/^This form is too old\b/, 'refusal.old-form'],
  [/^This form was sent from another site$/, 'refusal.foreign-form'],
  [/^The form cannot be read$/, 'refusal.unreadable'],
]

/** Returns the message for a text of the API in the language of the page; undefined if the table does not contain it. */
export function translateRefusal({ tag, t }: Language, text: string): string | undefined {
  if (tag === 'en') return undefined
  const sentence = text.replace(/\.$/, '')
  for (const [pattern, key] of TABLE) {
    const match = pattern.exec(sentence)
    if (match !== null) return t(key, { ...match.groups } satisfies Values)
  }
  return undefined
}

const PERMISSION = /^You lack the permission (?<name>[A-Z_]+) (?<place>on this project|in this organization)$/

/**
 * Returns the error of a form with the name of the missing permission as the pages show it, in any language. The user might
 * have had the permission when they opened the form.
 */
export function nameMissingPermission<Error extends Refused>(language: Language, error: Error): Error {
  const { name, place } = PERMISSION.exec(error.message)?.groups ?? {}
  if (name === undefined) return error
  const area = place === 'on this project' ? 'work.permission' : 'people.organization-permission'
  const permission = messageOr(language, `${area}.${name}`, name)
  return { ...error, message: language.t('refusal.permission', { permission }), lang: undefined }
}

/** Returns the error with its message in the language of the page, if the table contains it. */
export function translateError<Error extends Refused>(language: Language, error: Error): Error {
  if (error.lang === undefined || error.lang === language.tag) return error
  const message = translateRefusal(language, error.reason ?? error.message)
  return message === undefined ? error : { ...error, message, lang: undefined }
}

/** Parts of messages of the API that name its fields, its values and its routes, with the text that pages show instead. */
const RAW: readonly (readonly [pattern: RegExp, text: string])[] = [
  [/\b(must be one of) .*$/s, '$1 the choices'],
  [/\b(must be an? (?:integer|number) from -?\d+ to -?\d+) or null$/, '$1'],
  [/(\bis not a known value) of \w+: GET .*$/s, '$1'],
  [/[.:]? ?Missing fields: .*$/s, ''],
  [/\b(The file(?: name)?) (?:in|of) part \S+/, '$1'],
  [/\b(The pack's index) \S+/, '$1'],
  [/^The part \S+, which file_parts lists, is missing/, 'A file is missing'],
  [/^The form contains \S+ twice/, 'The form contains a field twice'],
  // A name at the beginning: `file_parts.0 must be …`.
  [/^[a-z]+(?:[._]+[a-z\d]+)+ (?=[a-z])/, 'A field of the form '],
]

/** Returns a message of the API without the names of its fields and values, which mean nothing on a page. */
export function withoutRawNames(message: string): string {
  return RAW.reduce((text, [pattern, plain]) => text.replace(pattern, plain), message)
}
