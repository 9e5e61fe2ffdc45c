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
