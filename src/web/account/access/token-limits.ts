// The limits of a token in its form, and the sentences that state what a token can do before it is created.

import type { ScopeBits } from '#features/basics/access/scopes.ts'
import type { TokenLimits } from '#features/people/accounts/access-tokens/limits.ts'
import type { AccessTokenRow, TokenResource } from '#features/people/accounts/access-tokens/queries.ts'
import { exactTime } from '#web/ui/format.ts'
import { html, type Markup, type Part } from '#web/ui/html.ts'
import type { PageContext } from '#web/ui/page-context.ts'
import { checkbox, type FormErrors, fieldset, textArea } from '#web/ui/parts/fields.ts'
import { scopeGroups, scopeText } from './scope-groups.ts'

/** The typed limits: `kind:ID` of each resource, and the lines of the networks. */
export type TypedLimits = { resources: readonly string[]; networks: string }

/** Returns the limits of the form; null if it has none. */
export function readLimits({ resources, networks }: TypedLimits): TokenLimits | null {
  const idsOf = (kind: string): string[] =>
    resources.flatMap((text) => (text.startsWith(`${kind}:`) ? [text.slice(kind.length + 1)] : []))
  const addresses = networks.split(/[\s,]+/).filter((text) => text !== '')
  const lists = { projects: idsOf('project'), organizations: idsOf('organization'), addresses }
  const filled = Object.entries(lists).filter(([, list]) => list.length > 0)
  return filled.length === 0 ? null : Object.fromEntries(filled)
}

/** Shows the choice of resources and networks. */
export function limitChoice(
  page: PageContext,
  of: TypedLimits & { known: readonly TokenResource[]; errors: FormErrors },
): Markup {
  const { t } = page.language
  const boxes = of.known.map(({ kind, id, name }) => {
    const value = `${kind}:${id}`
    const label = html`<bdi>${name}</bdi>`
    return checkbox({
      name: 'resource',
      value,
      isChecked: of.resources.includes(value),
      label,
      hint: t(`tokens.${kind}`),
    })
  })
  const { errors } = of
  return html`${
    boxes.length > 0 &&
    fieldset(page, {
      name: 'limits',
      legend: t('tokens.limits'),
      errors,
      className: 'stack',
      content: html`<p class="hint">${t('tokens.limits.hint')}</p>${boxes}`,
    })
  }
${textArea(page, { name: 'networks', label: t('tokens.networks'), hint: t('tokens.networks.hint'), value: of.networks, rows: 2, maxLength: 8000, isCode: true, isOptional: true, errors })}`
}

/** States in words what a token can do, where, and until when. */
export function tokenSentences(
  page: PageContext,
  of: { scopes: ScopeBits; limits: TokenLimits | null; known: readonly TokenResource[]; expires: Date },
): Markup {
  const { t, rich } = page.language
  const rights = scopeGroups(of.scopes).flatMap(({ scopes }) => scopes)
  const nameOf = (kind: string) => (id: string) =>
    html`<li><bdi>${of.known.find((each) => each.kind === kind && each.id === id)?.name ?? id}</bdi> <small>${t(kind === 'project' ? 'tokens.project' : 'tokens.organization')}</small></li>`
  const { projects = [], organizations = [], addresses = [] } = of.limits ?? {}
  const places = [...organizations.map(nameOf('organization')), ...projects.map(nameOf('project'))]
  return html`<p>${rights.length === 0 ? t('tokens.review.nothing') : t('tokens.review.can')}</p>
${rights.length > 0 && html`<ul>${rights.map((scope) => html`<li>${scopeText(page.language, scope)}</li>`)}</ul>`}
<p>${places.length === 0 ? t('tokens.review.everywhere') : t('tokens.review.only')}</p>
${places.length > 0 && html`<ul>${places}</ul>`}
<p>${addresses.length === 0 ? t('tokens.review.any-network') : rich('tokens.review.networks', { networks: html`<span class="mono">${addresses.join(', ')}</span>` })}</p>
<p>${rich('tokens.review.until', { at: exactTime(page.language, of.expires) })}</p>`
}

/** Describes the limits of an existing token. */
export function limitsLine(page: PageContext, token: AccessTokenRow): Part {
  const { t } = page.language
  const count = (token.project_ids?.length ?? 0) + (token.organization_ids?.length ?? 0)
  const parts = [
    count > 0 && t('tokens.limited', { count }),
    token.addresses !== null && t('tokens.limited.networks', { networks: token.addresses.join(', ') }),
    token.last_network !== null && t('tokens.last-network', { network: token.last_network }),
  ].filter((part) => part !== false)
  return parts.length > 0 && html`<p class="hint">${parts.join(' ')}</p>`
}
