// The emails of Depot. The text part and the HTML part are generated from the same paragraphs. User input (names, titles)
// is escaped in HTML and cannot break the line of a subject.

import type { TokenKind } from '#lib/access/tokens.ts'
import { escapeText } from '#lib/text/xml.ts'
import { SUBJECT_MAX } from './mail.ts'

export type MailContent = { subject: string; text: string; html: string }

/** Data of every email. */
export type MailContext = {
  /** For example `Depot`. */
  siteName: string
  /** Public URL of the service without trailing slash. */
  baseUrl: string
  /** Username of the recipient; empty for a recipient without an account. */
  username: string
}

/** Pages that emails link to. The query parameter `flow` contains the secret. */
export const MAIL_PAGES = {
  verifyEmail: '/account/verify-email',
  resetPassword: '/account/reset-password',
  undoEmail: '/account/undo-email',
  signIn: '/account/sign-in',
  settings: '/account',
  notificationEmails: '/account/notifications',
  unsubscribe: '/account/unsubscribe',
  signUp: '/account/sign-up',
  newProject: '/new/project',
} as const

type Block = string | { link: string; label: string }

const NOT_YOU =
  'If you did not do this, reset your password immediately and end all sessions that you do not recognize:'

export function verifyEmailMail(context: MailContext & { flow: string }): MailContent {
  return compose(context, `Verify your email address for ${context.siteName}`, [
    'To confirm that this email address is yours, open this page within 24 hours:',
    { link: flowLink(context.baseUrl, MAIL_PAGES.verifyEmail, context.flow), label: 'Verify my address' },
    'If you did not request this, ignore this message.',
  ])
}

export function resetPasswordMail(context: MailContext & { flow: string }): MailContent {
  return compose(context, `Reset your ${context.siteName} password`, [
    'A new password was requested for your account. To set it, open this page within 24 hours:',
    { link: flowLink(context.baseUrl, MAIL_PAGES.resetPassword, context.flow), label: 'Set a new password' },
    'If you did not request this, ignore this message. Your password will not change.',
  ])
}

/** Sent to an email address without an account, with a link to continue the sign-up. */
export function continueSignUpMail(context: MailContext & { email: string; key: string }): MailContent {
  const url = new URL(`${context.baseUrl}${MAIL_PAGES.signUp}`)
  url.search = new URLSearchParams({ email: context.email, key: context.key }).toString()
  return compose(context, `Continue your sign-up at ${context.siteName}`, [
    'You or somebody else signed up with this email address. To continue, open this page within 24 hours:',
    { link: url.href, label: 'Continue' },
    'If you did not do this, ignore this message. No account was created.',
  ])
}

/** Sent to the user of an account, with whose email address a client tried to sign up. */
export function hasAccountMail(context: MailContext): MailContent {
  return compose(context, `You already have an account at ${context.siteName}`, [
    'You or somebody else tried to sign up with this email address, which belongs to your account. To sign in, open this page:',
    { link: new URL(`${context.baseUrl}${MAIL_PAGES.signIn}`).href, label: 'Sign in' },
    'If you did not do this, ignore this message. Nothing was changed.',
  ])
}

/** Sent to the previous address, with a link that undoes the change. */
export function emailChangedMail(context: MailContext & { newEmail: string; flow: string }): MailContent {
  return compose(context, `Your ${context.siteName} email address was changed`, [
    `The email address of your account is now ${context.newEmail}. You will receive no more messages at this address.`,
    'If you did not do this, undo the change within 7 days. This also ends all sessions and removes the password:',
    { link: flowLink(context.baseUrl, MAIL_PAGES.undoEmail, context.flow), label: 'Undo the change' },
  ])
}

export function passwordChangedMail(context: MailContext & { hasPasskeys: boolean }): MailContent {
  const passkeys = context.hasPasskeys ? ' Your passkeys still work.' : ''
  return securityMail(context, 'password was changed', `The password of your account was changed.${passkeys}`)
}

/** `name`: name of the passkey. */
export function passkeyAddedMail(context: MailContext & { name: string }): MailContent {
  const sentence = `A passkey named "${context.name}" was added to your account. It can sign in without a password.`
  return securityMail(context, 'account has a new passkey', sentence)
}

export function passkeyRemovedMail(context: MailContext & { name: string }): MailContent {
  return securityMail(context, 'passkey was deleted', `The passkey "${context.name}" of your account was deleted.`)
}

/** `name`: name of the provider. */
export function providerLinkedMail(context: MailContext & { name: string }): MailContent {
  const sentence = `An account of ${context.name} was linked to your account. It can sign in to your account.`
  return securityMail(context, 'account has a new link for sign-in', sentence)
}

export function providerUnlinkedMail(context: MailContext & { name: string }): MailContent {
  const sentence = `The link of your account to ${context.name} was removed.`
  return securityMail(context, 'account lost a link for sign-in', sentence)
}

export function backupCodeUsedMail(context: MailContext & { remaining: number }): MailContent {
  const left = context.remaining === 0 ? 'No backup codes are left' : `Remaining backup codes: ${context.remaining}`
  const sentence = `A backup code of your account was used. ${left}. You can create new codes in the security settings.`
  return securityMail(context, 'backup code was used', sentence)
}

export function twoFactorEnabledMail(context: MailContext): MailContent {
  return securityMail(context, 'two-factor sign-in is on', 'Two-factor sign-in was turned on for your account.')
}

export function twoFactorRemovedMail(context: MailContext): MailContent {
  return securityMail(context, 'two-factor sign-in is off', 'Two-factor sign-in was turned off for your account.')
}

/** Sent by an operator to their own address. */
export function testMail(context: MailContext): MailContent {
  return compose(context, `Test email of ${context.siteName}`, [
    'An operator sent this message to check that the mail server works. You can delete it.',
  ])
}

export function tokenCreatedMail(context: MailContext & { tokenName: string }): MailContent {
  const sentence = `A personal access token named "${context.tokenName}" was created for your account.`
  return securityMail(context, 'account has a new access token', sentence)
}

/** `url`: where the token was found, if the reporter stated it. */
export function tokenLeakedMail(context: MailContext & { tokenKind: TokenKind; url: string | null }): MailContent {
  const names = { pat: 'A personal access token', oauth: 'A token of an application', session: 'A session' } as const
  const what = context.tokenKind === 'publisher' ? 'A token of a trusted publisher' : names[context.tokenKind]
  const place = context.url === null ? '' : ` It was found at ${context.url}.`
  const sentence = `${what} of your account was reported as leaked, so it was revoked.${place} Check what it was used for, and remove it from where it was published.`
  return securityMail(context, 'account had a leaked token', sentence)
}

export function approvedMail(context: MailContext): MailContent {
  return compose(context, `Your ${context.siteName} account is approved`, [
    'A moderator has approved your account. You can now publish:',
    { link: new URL(`${context.baseUrl}${MAIL_PAGES.newProject}`).href, label: 'Publish a project' },
  ])
}

/** `until` is null for a suspension without an end. */
export function suspendedMail(context: MailContext & { reason: string; until: Date | null }): MailContent {
  const { siteName, reason, until } = context
  const end = until === null ? 'until further notice' : `until ${until.toUTCString()}`
  return compose(context, `Your ${siteName} account was suspended`, [
    `Your account was suspended ${end}. You cannot sign in during this time, and your access tokens do not work.`,
    'Reason:',
    reason,
  ])
}

export function unsuspendedMail(context: MailContext): MailContent {
  return compose(context, `Your ${context.siteName} account is no longer suspended`, [
    'You can sign in again, and your access tokens work again.',
    resetLink(context),
  ])
}

/** `due`: when the account is deleted permanently. `byOwner`: whether the user requested the deletion and can undo it. */
export function deletionPendingMail(context: MailContext & { due: Date; byOwner: boolean }): MailContent {
  const { siteName, baseUrl, due, byOwner } = context
  const subject = `Your ${siteName} account will be deleted`
  const end = `It will be deleted permanently on ${due.toUTCString()}. Until then, its name stays reserved.`
  if (!byOwner) return compose(context, subject, ['An operator has deleted your account.', end])
  return compose(context, subject, [
    `You have deleted your account, and it is hidden now. ${end}`,
    'To keep the account, sign in before that date and undo the deletion:',
    { link: new URL(`${baseUrl}${MAIL_PAGES.signIn}`).href, label: 'Sign in' },
  ])
}

export function deletionUndoneMail(context: MailContext): MailContent {
  const sentence = 'The deletion of your account was undone. Its access tokens were not restored.'
  return securityMail(context, 'account is restored', sentence)
}

/** `url`: the result of `invitationLink`. */
export function invitationMail({
  url,
  expires,
  ...site
}: Omit<MailContext, 'username'> & { url: string; expires: Date }): MailContent {
  return compose({ ...site, username: '' }, `An invitation to ${site.siteName}`, [
    `You are invited to create an account at ${site.siteName}. The invitation expires on ${expires.toUTCString()}:`,
    { link: url, label: 'Create an account' },
    'If you did not expect this, ignore this message.',
  ])
}

/** Returns the URL of the page to set a new password, with its secret. */
export function passwordLink(baseUrl: string, flow: string): string {
  return flowLink(baseUrl, MAIL_PAGES.resetPassword, flow)
}

/** Returns the URL of the sign-up page with the code of an invitation. */
export function invitationLink(baseUrl: string, code: string): string {
  const link = new URL(`${baseUrl}${MAIL_PAGES.signUp}`)
  link.searchParams.set('invitation', code)
  return link.href
}

/** Returns the email of a notification: its title, its text, an optional link, and the links to receive fewer emails. */
export function notificationMail(
  context: MailContext & { title: string; text: string; link?: string | undefined; unsubscribe: string },
): MailContent {
  const { title, text, link, unsubscribe, baseUrl } = context
  return compose(context, title, [
    text,
    ...(link === undefined ? [] : [{ link, label: 'Open the page' }]),
    'To receive no more emails of this kind, open this page:',
    { link: unsubscribe, label: 'Turn off these emails' },
    'To choose which notifications you receive by email, open your settings:',
    { link: new URL(`${baseUrl}${MAIL_PAGES.notificationEmails}`).href, label: 'Email settings' },
  ])
}

/** Returns the URL of a page with its secret. The URL is ASCII, even if the host name is not. */
function flowLink(baseUrl: string, page: string, flow: string): string {
  const url = new URL(`${baseUrl}${page}`)
  url.searchParams.set('flow', flow)
  return url.href
}

function securityMail(context: MailContext, subject: string, sentence: string): MailContent {
  return compose(context, `Your ${context.siteName} ${subject}`, [sentence, NOT_YOU, resetLink(context)])
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
    `<html lang="en"><head><meta charset="utf-8"><title>${escapeText(subject)}</title></head>`,
    '<body style="font-family: sans-serif; line-height: 1.5; max-width: 36em">',
    ...paragraphs,
    `<p style="color: #666">${escapeText(signature)}</p>`,
    '</body></html>',
  ]
  return { subject, text: `${text.join('\n\n')}\n`, html: `${html.join('\n')}\n` }
}

function toHtml(block: Block): string {
  if (typeof block === 'string') return escapeText(block).replaceAll(/\r\n|\r|\n/g, '<br>')
  // Shows the URL as well, so that users can check it before they open it.
  return `<a href="${escapeText(block.link)}">${escapeText(block.label)}</a><br>${escapeText(block.link)}`
}

function oneLine(text: string): string {
  return text.replaceAll(/[\p{Cc}\u2028\u2029]+/gu, ' ').trim()
}
