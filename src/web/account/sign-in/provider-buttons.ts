// Buttons that lead to other services, which sign the user in.
import type { ProviderPurpose } from '#features/people/accounts/providers/answer-provider.ts'
import { PATHS } from '#web/kit/paths.ts'
import { html, type Part } from '#web/ui/html.ts'
import { type PageContext, pathTo } from '#web/ui/page-context.ts'
import { buttonForm } from '#web/ui/parts/fields.ts'

/** Renders a button for each provider of the instance. */
export function providerButtons(
  page: PageContext,
  of: {
    providers: readonly { id: string; name: string }[]
    purpose: ProviderPurpose
    returnTo: string
    canUndo?: boolean | undefined
  },
): Part {
  const { t } = page.language
  const text = { 'sign-in': 'provider.sign-in', link: 'provider.link', confirm: 'provider.confirm' } as const
  const buttons = of.providers.map(({ id, name }) =>
    buttonForm(page, {
      action: pathTo(page, PATHS.signInProvider),
      text: t(of.canUndo === true ? 'provider.undo' : text[of.purpose], { name }),
      fields: {
        provider: id,
        purpose: of.purpose,
        return: of.returnTo,
        ...(of.canUndo === true && { undo_deletion: 'yes' }),
      },
    }),
  )
  return buttons.length > 0 && html`<div class="stack">${buttons}</div>`
}
