// The buttons for passkeys. Without scripts, or in a browser without passkeys, they are hidden.
import { attributes, html, type Markup } from '../html.ts'
import { assetHref, icon, type PageContext, pathTo } from '../page-context.ts'
import { hiddenField } from './fields.ts'

const OPTIONS = '/_internal/auth/passkeys/options'

/**
 * Renders the button that sends its form with the response of an authenticator in the field `passkey`, in place of a password.
 * `hasAutofill`: browsers also offer passkeys in the list of the field for the name. `isWide`: like the main button of a narrow form.
 */
export function passkeyButton(
  page: PageContext,
  of: { label: string; hasAutofill?: boolean; isWide?: boolean },
): Markup {
  const { t } = page.language
  const data = attributes({
    'data-passkey': 'get',
    'data-options': pathTo(page, OPTIONS),
    'data-failed': t('passkey.failed'),
    'data-autofill': of.hasAutofill === true,
  })
  const button = html`<button type="button">${icon(page, 'key')}${of.label}</button>`
  return part(page, data, of.isWide === true ? button : html`<div>${button}</div>`)
}

/** Renders the button that creates a passkey with these options and sends its form. */
export function createPasskeyButton(
  page: PageContext,
  of: { options: unknown; label: string; command: string },
): Markup {
  const { t } = page.language
  const data = attributes({
    'data-passkey': 'create',
    'data-options': JSON.stringify(of.options),
    'data-failed': t('passkey.failed'),
    'data-known': t('passkey.known'),
  })
  return part(
    page,
    data,
    html`<div><button class="main" name="do" value="${of.command}">${icon(page, 'key')}${of.label}</button></div>`,
  )
}

function part(page: PageContext, data: Markup | string, button: Markup): Markup {
  return html`<div class="stack"${data} data-script="${assetHref(page, 'account.js')}" hidden>
${hiddenField('passkey', '')}
<p class="error" role="alert" hidden></p>
${button}
</div>`
}
