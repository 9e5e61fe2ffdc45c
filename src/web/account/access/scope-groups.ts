import {
  GRANTABLE_SCOPES,
  intersectScopes,
  isScopeSubset,
  SCOPES,
  type Scope,
  type ScopeBits,
  type ScopeGroup,
} from '#lib/access/scopes.ts'

export type ScopeGroupView = { group: ScopeGroup; scopes: readonly Scope[] }

/** The scopes in a set by group, in the table's order; those that grant nothing at present are left out. */
export function scopeGroups(bits: ScopeBits = GRANTABLE_SCOPES): ScopeGroupView[] {
  const shown = SCOPES.filter(({ value, group }) => group !== 'Reserved' && isScopeSubset(value, bits))
  return [...new Set(shown.map(({ group }) => group))].map((group) => ({
    group,
    scopes: shown.filter((scope) => scope.group === group),
  }))
}

const RESERVED = SCOPES.filter(({ group }) => group === 'Reserved').reduce((sum, { value }) => sum + value, 0)

/** What of a set `scopeGroups` leaves out, so that a form that does not show it keeps it. */
export function reservedScopes(bits: ScopeBits): ScopeBits {
  return intersectScopes(bits, RESERVED)
}
