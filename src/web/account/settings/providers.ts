// The links of an account to other services.
import { listProviderLinks, type ProviderLink } from '#features/people/accounts/providers/queries.ts'
import { unlinkProvider } from '#features/people/accounts/providers/unlink-provider.ts'
import type { FormState, Outcome } from '#web/kit/forms/form-page.ts'
import type { OwnRequest } from '#web/kit/pages.ts'
import { PATHS } from '#web/kit/paths.ts'
import { timeAgo } from '#web/ui/format.ts'
import { html, type Markup, type Part } from '#web/ui/html.ts'
import { pathTo } from '#web/ui/page-context.ts'
import { buttonForm } from '#web/ui/parts/fields.ts'
import { providerButtons } from '../sign-in/provider-buttons.ts'

export const PROVIDERS = {
  'unlink-provider': async ({ accounts, viewer }: OwnRequest, _: unknown, form: FormState): Promise<Outcome> => {
    await unlinkProvider(accounts, { viewer, provider: form.argument, proof: {} })
    return { done: 'provider-unlinked' }
  },
}

/** Renders the links, and buttons for the other providers; nothing if there are neither. */
export async function providersSection(request: OwnRequest): Promise<Part> {
  const { accounts, account, deps, viewer, page, t } = request
  const { sign_in_providers: linked } = account
  if (accounts.providers.size === 0 && linked.length === 0) return null
  const links = linked.length === 0 ? [] : await listProviderLinks(deps.db, viewer.id)
  const others = [...accounts.providers.values()]
    .map(({ provider }) => provider)
    .filter(({ id }) => !linked.includes(id))
  return html`<section class="section" id="providers"><h2>${t('providers')}</h2>
<p class="soft">${t('providers.text')}</p>
${links.length > 0 && html`<ul class="items">${links.map((link) => linkItem(request, link))}</ul>`}
${providerButtons(page, { providers: others, purpose: 'link', returnTo: '' })}
</section>`
}

function linkItem({ accounts, page, t, rich }: OwnRequest, { provider: id, name, created }: ProviderLink): Markup {
  const label = accounts.providers.get(id)?.provider.name ?? id
  const unlink = buttonForm(page, {
    action: pathTo(page, PATHS.security),
    text: t('providers.unlink'),
    kind: 'danger',
    isTight: true,
    label: t('providers.unlink.named', { name: label }),
    fields: { do: `unlink-provider.${id}` },
  })
  const facts = rich('providers.facts', {
    name: html`<bdi>${name}</bdi>`,
    created: timeAgo(page.language, created, page.now),
  })
  return html`<li class="row">
<div class="grow"><h3>${label}</h3>
<p class="hint">${facts}</p></div>
${unlink}
</li>`
}
