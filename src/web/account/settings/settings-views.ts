// Sections that several pages of the account settings contain.

import Type from 'typebox'
import { hasSecondFactor } from '#features/basics/access/accounts.ts'
import type { OwnerProof } from '#features/basics/access/confirm-owner.ts'
import { ICON_BYTES_MAX, type IconOwner, replaceIcon, setIcon } from '#features/basics/images/icons.ts'
import { confirmOwner, hasPassword } from '#features/people/accounts/credentials/confirm-owner.ts'
import { CodeField, PasswordField } from '#features/people/accounts/requests.ts'
import { isConfirmed } from '#features/people/accounts/sessions/queries.ts'
import type { AccountRow } from '#features/people/users/queries.ts'
import type { Deps } from '#ports/deps.ts'
import type { Outcome } from '#web/kit/forms/form-page.ts'
import { checkValues, errorsOf, type FormRefusal, uploadedImage } from '#web/kit/forms/read-form.ts'
import type { OwnRequest } from '#web/kit/pages.ts'
import { PATHS } from '#web/kit/paths.ts'
import { fileSize } from '#web/ui/format.ts'
import { attributes, html, type Markup, type Part } from '#web/ui/html.ts'
import { type PageContext, pathTo } from '#web/ui/page-context.ts'
import { buttonForm, fileField, form, passwordField } from '#web/ui/parts/fields.ts'
import { face } from '#web/ui/parts/lists.ts'
import { passkeyButton } from '#web/ui/parts/passkey.ts'
import { providerButtons } from '../sign-in/provider-buttons.ts'
import { codeField } from '../sign-in/sign-in-views.ts'

type Refused = { refusal?: FormRefusal | undefined }

/** Shows the avatar of a user or the icon of an application, with the forms that change it. */
export function pictureSection(
  page: PageContext,
  of: { action: string; url: string | null; name: string; isSquare: boolean; limit: 'at-most' | 'smaller' } & Refused,
): Markup {
  const { t } = page.language
  const field = fileField(page, {
    name: 'picture',
    label: t('picture.new'),
    hint: t(`picture.hint.${of.limit}`, { size: fileSize(page.language, ICON_BYTES_MAX) }),
    maxBytes: of.limit === 'at-most' ? ICON_BYTES_MAX : ICON_BYTES_MAX - 1,
    accept: '.png,.jpg,.jpeg,.gif,.webp,.svg',
    errors: errorsOf(of),
  })
  const upload = form(page, {
    action: of.action,
    className: 'stack grow',
    hasFile: true,
    content: html`${field}<div><button name="do" value="picture">${t('picture.set')}</button></div>`,
  })
  return html`<section class="section">
<h2>${t('picture')}</h2>
<div class="row">${face({ name: of.name, url: of.url, isLarge: true, isSquare: of.isSquare })}
${upload}</div>
${of.url !== null && of.url !== '' && buttonForm(page, { action: of.action, text: t('picture.remove'), isTight: true, fields: { do: 'remove-picture' } })}
</section>`
}

/** Returns the commands of `pictureSection`. */
export function pictureCommands(ownerOf: (deps: Deps) => IconOwner) {
  return {
    picture: async ({ deps, req, viewer }: OwnRequest, { id }: { id: string }): Promise<Outcome> => {
      await setIcon(deps, ownerOf(deps), { id, viewer, ...uploadedImage(req.body) })
      return { done: 'picture' }
    },
    'remove-picture': async ({ deps, viewer }: OwnRequest, { id }: { id: string }): Promise<Outcome> => {
      await replaceIcon(deps, ownerOf(deps), { id, viewer, icon: null })
      return { done: 'picture-removed' }
    },
  }
}

/** The fields that confirm the owner of an account: the password, and the code if two-factor sign-in is on. Accounts without a password
 * confirm with the code or a passkey, or at their provider. */
export function proofFields(page: PageContext, of: { account: AccountRow; hint?: string } & Refused): Markup {
  const { t } = page.language
  const { account } = of
  const autocomplete = 'current-password'
  const passkey = account.passkey_count > 0 && passkeyButton(page, { label: t('passkey.confirm') })
  const code = hasSecondFactor(account) && codeField(page, t('security.code'), of)
  if (!hasPassword(account)) {
    if (code !== false || passkey !== false) return html`${code}${passkey}`
    const link = (text: Part) => html`<a href="${pathTo(page, PATHS.security)}">${text}</a>`
    return html`<p class="soft">${page.language.rich('confirm.elsewhere', { link })}</p>`
  }
  const label = account.password_hash === null ? t('confirm.token') : t('field.password')
  // Password managers need the username.
  return html`<input type="text" name="username" value="${account.username}" autocomplete="username" hidden readonly>
${passwordField(page, { name: 'password', label, hint: of.hint, autocomplete, errors: errorsOf(of) })}
${code}
${passkey}`
}

/** Returns the values of `proofFields`. */
export function proofOf(field: (name: string) => string): OwnerProof {
  const [password, code, passkey] = [field('password'), field('code'), field('passkey')]
  if (passkey !== '') return { passkey }
  return { ...(password === '' ? {} : { password }), ...(code === '' ? {} : { code }) }
}

/** Whether a refusal concerns the confirmation of the owner, so that the page asks for it again. */
export const isProofRefused = ({ status }: FormRefusal): boolean => status === 401 || status === 429

const Proof = Type.Object({ password: PasswordField, code: Type.Optional(CodeField) })
const ProofByCode = Type.Object({ code: CodeField })

/** Checks the password, which users must enter again before they change who owns the account. */
export async function confirm({ accounts, account, viewer, field }: OwnRequest): Promise<Outcome> {
  const proof = proofOf(field)
  if (proof.passkey !== undefined) await confirmOwner(accounts, viewer, proof)
  else if (hasPassword(account)) await confirmOwner(accounts, viewer, checkValues(Proof, { password: '', ...proof }))
  else await confirmOwner(accounts, viewer, checkValues(ProofByCode, { code: '', ...proof }))
  return {}
}

/** Whether the user has confirmed lately that they own the account. */
export const hasConfirmed = ({ deps, viewer }: OwnRequest): Promise<boolean> => isConfirmed(deps.db, viewer, deps.now())

/**
 * Returns `proofFields` for a form with other fields, or nothing if the session has confirmed its owner lately: the commands
 * then accept the form without a proof.
 */
export async function proofPart(
  request: OwnRequest,
  { refusal }: Refused,
  hint = request.t('work.your-password.why'),
): Promise<Part> {
  const isRefused = refusal !== undefined && isProofRefused(refusal)
  if (!isRefused && (await hasConfirmed(request))) return null
  return proofFields(request.page, { account: request.account, hint, refusal })
}

/** Asks for the password again, for a page with the command `confirm`. */
export function confirmForm(
  page: PageContext,
  of: { account: AccountRow; path: string; providers: readonly { id: string; name: string }[] } & Refused,
): Markup {
  const { t } = page.language
  const { account } = of
  const linked = of.providers.filter(({ id }) => account.sign_in_providers.includes(id))
  const hasText = hasPassword(account) || hasSecondFactor(account)
  const content = html`${proofFields(page, of)}
<div><button class="main" name="do" value="confirm"${attributes({ hidden: !hasText })}>${t('confirm.send')}</button></div>`
  const isForm = hasText || account.passkey_count > 0
  return html`<p class="soft">${t(account.password_hash === null ? 'confirm.owner' : 'confirm.text')}</p>
${isForm && form(page, { action: pathTo(page, of.path), content })}
${!hasText && providerButtons(page, { providers: linked, purpose: 'confirm', returnTo: of.path })}`
}
