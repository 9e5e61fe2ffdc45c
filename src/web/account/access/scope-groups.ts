// Groups of scopes, and how pages show them.
import {
  combineScopes,
  GRANTABLE_SCOPES,
  intersectScopes,
  isScopeSubset,
  parseScopeNames,
  SCOPES,
  type Scope,
  type ScopeBits,
  type ScopeGroup,
} from '#features/basics/access/scopes.ts'
import { html, type Markup } from '#web/ui/html.ts'
import { type Language, messageOr } from '#web/ui/languages.ts'
import { icon, type PageContext } from '#web/ui/page-context.ts'
import { checkbox, type FormErrors, fieldset } from '#web/ui/parts/fields.ts'

export type ScopeGroupView = { group: ScopeGroup; scopes: readonly Scope[] }

/** Groups the scopes of a set, in the order of the table. Leaves out reserved scopes, which grant nothing yet. */
export function scopeGroups(bits: ScopeBits = GRANTABLE_SCOPES): ScopeGroupView[] {
  const shown = SCOPES.filter(({ value, group }) => group !== 'Reserved' && isScopeSubset(value, bits))
  return [...new Set(shown.map(({ group }) => group))].map((group) => ({
    group,
    scopes: shown.filter((scope) => scope.group === group),
  }))
}

const RESERVED = SCOPES.filter(({ group }) => group === 'Reserved').reduce((sum, { value }) => sum + value, 0)

/** Returns the reserved scopes of a set. Forms do not show them and must not change them. */
export function reservedScopes(bits: ScopeBits): ScopeBits {
  return intersectScopes(bits, RESERVED)
}

/** Combines the scopes with these names. Ignores unknown names. */
export function scopesOf(names: readonly string[]): ScopeBits {
  return names.reduce((sum, name) => combineScopes(sum, parseScopeNames(name).bits), 0)
}

const keyOf = (name: string): string => name.toLowerCase().replaceAll(/[_ ]/g, '-')

/** Describes a scope to the user who grants it. */
export const scopeText = (language: Language, { name, explanation }: Scope): string =>
  messageOr(language, `scopes.of.${keyOf(name)}`, explanation)

/** Shows all scopes that can be granted. */
export function scopeChoice(
  page: PageContext,
  of: { name: string; legend: string; chosen: readonly string[]; offered?: ScopeBits; errors: FormErrors },
): Markup {
  const { t } = page.language
  const groups = scopeGroups(of.offered).map(
    ({ group, scopes }) => html`<fieldset>
<legend class="group-head">${messageOr(page.language, `scopes.group.${keyOf(group)}`, group)} <button type="button" class="plain" data-tick-all="${t('scopes.none')}" hidden>${t('scopes.all')}</button></legend>
${scopes.map((scope) => checkbox({ name: 'scope', value: scope.name, isChecked: of.chosen.includes(scope.name), label: scopeText(page.language, scope), hint: scope.name }))}
</fieldset>`,
  )
  return fieldset(page, {
    name: of.name,
    legend: of.legend,
    errors: of.errors,
    className: 'stack',
    content: html`<div class="groups">${groups}</div>`,
  })
}

/** Lists the descriptions of a set of scopes, by group. */
export function allowedScopes(page: PageContext, bits: ScopeBits): Markup[] {
  return scopeGroups(bits).map(
    ({ scopes }) =>
      html`<ul class="marked">${scopes.map((scope) => html`<li>${icon(page, 'check')}<span>${scopeText(page.language, scope)}</span></li>`)}</ul>`,
  )
}
