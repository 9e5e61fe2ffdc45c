// What Depot's mails say. Each is a subject and a few paragraphs, from which both parts are made, so that they say the
// same. What people typed (names, titles) is escaped in HTML and can break no line of a subject.
import { SUBJECT_MAX } from './mail.ts'

export type MailContent = { subject: string; text: string; html: string }

/** What every mail is written from. */
export type MailContext = {
  /** As in `Depot`. */
  siteName: string
  /** Public address of the service without trailing slash. */
  baseUrl: string
  /** Of the receiver; empty for somebody who has no account yet. */
  username: string
}

/** The pages that mails lead to; the secret follows in the query key `flow`. */
export const MAIL_PAGES = {
  verifyEmail: '/account/verify-email',
  resetPassword: '/account/reset-password',
  undoEmail: '/account/undo-email',
  signIn: '/account/sign-in',
  settings: '/account',
  signUp: '/account/sign-up',
} as const

type Block = string | { link: string; label: string }

const NOT_YOU = 'If this was not you, reset your password at once and end the sessions you do not know:'

export function verifyEmailMail(context: MailContext & { flow: string }): MailContent {
  return compose(context, `Verify your e-mail address for ${context.siteName}`, [
    'Please confirm that this address is yours by opening this page within 24 hours:',
    { link: flowLink(context.baseUrl, MAIL_PAGES.verifyEmail, context.flow), label: 'Verify my address' },
    'If you did not ask for this, ignore this message.',
  ])
}

export function resetPasswordMail(context: MailContext & { flow: string }): MailContent {
  return compose(context, `Reset your ${context.siteName} password`, [
    'Somebody, hopefully you, asked for a new password. To set one, open this page within 24 hours:',
    { link: flowLink(context.baseUrl, MAIL_PAGES.resetPassword, context.flow), label: 'Set a new password' },
    'If you did not ask for this, ignore this message. Your password stays as it is.',
  ])
}

/** Goes to the former address, with a link that takes the change back. */
export function emailChangedMail(context: MailContext & { newEmail: string; flow: string }): MailContent {
  return compose(context, `Your ${context.siteName} e-mail address was changed`, [
    `Your account now has the e-mail address ${context.newEmail}. This address gets no more messages.`,
    'If this was not you, take the change back within seven days. That also ends all sessions and the password:',
    { link: flowLink(context.baseUrl, MAIL_PAGES.undoEmail, context.flow), label: 'Take the change back' },
  ])
}

export function passwordChangedMail(context: MailContext): MailContent {
  return securityMail(context, 'password was changed', 'The password of your account was changed.')
}

export function twoFactorEnabledMail(context: MailContext): MailContent {
  return securityMail(context, 'two-factor sign-in is on', 'Two-factor sign-in was turned on for your account.')
}

export function twoFactorRemovedMail(context: MailContext): MailContent {
  return securityMail(context, 'two-factor sign-in is off', 'Two-factor sign-in was turned off for your account.')
}

export function tokenCreatedMail(context: MailContext & { tokenName: string }): MailContent {
  const what = `A personal access token named "${context.tokenName}" was made for your account.`
  return securityMail(context, 'account has a new access token', what)
}

/** `until` is absent for a suspension without an end. */
export function suspendedMail(context: MailContext & { reason: string; until: Date | null }): MailContent {
  const { siteName, reason, until } = context
  const end = until === null ? 'until further notice' : `until ${until.toUTCString()}`
  return compose(context, `Your ${siteName} account was suspended`, [
    `Your account was suspended ${end}. You cannot sign in during this time, and its tokens do nothing.`,
    'The reason that was given:',
    reason,
  ])
}

export function unsuspendedMail(context: MailContext): MailContent {
  return compose(context, `Your ${context.siteName} account is no longer suspended`, [
    'You can sign in again, and your access tokens work again.',
    resetLink(context),
  ])
}

/** `due`: when the account goes for good. `byOwner`: whether its owner has deleted it, and can undo that. */
export function deletionPendingMail(context: MailContext & { due: Date; byOwner: boolean }): MailContent {
  const { siteName, baseUrl, due, byOwner } = context
  const subject = `Your ${siteName} account will be deleted`
  const end = `It will be deleted for good on ${due.toUTCString()}; until then its name stays reserved.`
  if (!byOwner) return compose(context, subject, ['An operator has deleted your account.', end])
  return compose(context, subject, [
    `You have deleted your account. Nobody sees it any more. ${end}`,
    'If you want to keep it, or if this was not you, sign in before that and undo the deletion:',
    { link: new URL(`${baseUrl}${MAIL_PAGES.signIn}`).href, label: 'Sign in' },
  ])
}

export function deletionUndoneMail(context: MailContext): MailContent {
  return securityMail(
    context,
    'account is back',
    'The deletion of your account was undone. Its access tokens are gone.',
  )
}

/** `url`: as `invitationLink` makes it. */
export function invitationMail({
  url,
  expires,
  ...site
}: Omit<MailContext, 'username'> & { url: string; expires: Date }): MailContent {
  return compose({ ...site, username: '' }, `An invitation to ${site.siteName}`, [
    `You are invited to make an account at ${site.siteName}. The invitation works until ${expires.toUTCString()}:`,
    { link: url, label: 'Make an account' },
    'If you did not expect this, ignore this message.',
  ])
}

/** The page on which a new password is set, with the secret that opens it. */
export function passwordLink(baseUrl: string, flow: string): string {
  return flowLink(baseUrl, MAIL_PAGES.resetPassword, flow)
}

/** The page for signing up, with the code of an invitation. */
export function invitationLink(baseUrl: string, code: string): string {
  const link = new URL(`${baseUrl}${MAIL_PAGES.signUp}`)
  link.searchParams.set('invitation', code)
  return link.href
}

/** A notification sent as mail: its title, its text and, where it is about something, the page of that. */
export function notificationMail(
  context: MailContext & { title: string; text: string; link?: string | undefined },
): MailContent {
  const { title, text, link } = context
  return compose(context, title, [text, ...(link === undefined ? [] : [{ link, label: 'Have a look' }])])
}

/** The address of a page with the secret that opens it; its bytes are ASCII, also when the host name is not. */
function flowLink(baseUrl: string, page: string, flow: string): string {
  const url = new URL(`${baseUrl}${page}`)
  url.searchParams.set('flow', flow)
  return url.href
}

function securityMail(context: MailContext, what: string, sentence: string): MailContent {
  return compose(context, `Your ${context.siteName} ${what}`, [sentence, NOT_YOU, resetLink(context)])
}

function resetLink({ baseUrl }: MailContext): Block {
  return { link: new URL(`${baseUrl}${MAIL_PAGES.settings}`).href, label: 'My account' }
}

function compose({ siteName, baseUrl, username }: MailContext, title: string, blocks: readonly Block[]): MailContent {
  const subject = oneLine(title).slice(0, SUBJECT_MAX).toWellFormed()
  const greeting = username === '' ? 'Hello,' : `Hello ${oneLine(username)},`
  const signature = `${siteName}, ${new URL(baseUrl).href}`
  const text = [
    greeting,
    ...blocks.map((block) => (typeof block === 'string' ? block : block.link)),
    `-- \n${signature}`,
  ]
  const paragraphs = [greeting, ...blocks].map((block) => `<p>${toHtml(block)}</p>`)
  const html = [
    '<!doctype html>',
    `<html lang="en"><head><meta charset="utf-8"><title>${escapeHtml(subject)}</title></head>`,
    '<body style="font-family: sans-serif; line-height: 1.5; max-width: 36em">',
    ...paragraphs,
    `<p style="color: #666">${escapeHtml(signature)}</p>`,
    '</body></html>',
  ]
  return { subject, text: `${text.join('\n\n')}\n`, html: `${html.join('\n')}\n` }
}

function toHtml(block: Block): string {
  if (typeof block === 'string') return escapeHtml(block).replaceAll(/\r\n|\r|\n/g, '<br>')
  // The address is shown too, for those who do not click on words.
  return `<a href="${escapeHtml(block.link)}">${escapeHtml(block.label)}</a><br>${escapeHtml(block.link)}`
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (sign) => ENTITIES[sign] ?? sign)
}

function oneLine(text: string): string {
  return text.replaceAll(/[\p{Cc}\u2028\u2029]+/gu, ' ').trim()
}
