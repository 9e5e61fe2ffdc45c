// Permissions of team members, and badges of accounts, as bit fields below 2^31.

/** Permissions of a member in a project. */
export const PROJECT_PERMISSIONS = {
  UPLOAD_VERSION: 1,
  DELETE_VERSION: 2,
  EDIT_DETAILS: 4,
  EDIT_BODY: 8,
  MANAGE_INVITES: 16,
  REMOVE_MEMBER: 32,
  EDIT_MEMBER: 64,
  DELETE_PROJECT: 128,
  VIEW_ANALYTICS: 256,
  VIEW_PAYOUTS: 512,
} as const

/** Permissions of a member in an organization. */
export const ORGANIZATION_PERMISSIONS = {
  EDIT_DETAILS: 1,
  MANAGE_INVITES: 2,
  REMOVE_MEMBER: 4,
  EDIT_MEMBER: 8,
  ADD_PROJECT: 16,
  REMOVE_PROJECT: 32,
  DELETE_ORGANIZATION: 64,
  EDIT_MEMBER_DEFAULT_PERMISSIONS: 128,
} as const

/** Badges of an account. AFFILIATE also permits to create affiliate codes. */
export const BADGES = {
  SUPPORTER: 1,
  EARLY_MODPACK_ADOPTER: 2,
  EARLY_RESOURCE_PACK_ADOPTER: 4,
  EARLY_PLUGIN_ADOPTER: 8,
  ALPHA_TESTER: 16,
  CONTRIBUTOR: 32,
  TRANSLATOR: 64,
  AFFILIATE: 128,
} as const

export type ProjectPermission = keyof typeof PROJECT_PERMISSIONS
export type OrganizationPermission = keyof typeof ORGANIZATION_PERMISSIONS
export type Badge = keyof typeof BADGES

type BitTable = Readonly<Record<string, number>>

const all = (table: BitTable): number => Object.values(table).reduce((bits, bit) => bits | bit, 0)

/** Every project permission: 1023. */
export const ALL_PROJECT_PERMISSIONS: number = all(PROJECT_PERMISSIONS)

/** Every organization permission: 255. */
export const ALL_ORGANIZATION_PERMISSIONS: number = all(ORGANIZATION_PERMISSIONS)

/** Every badge: 255. */
export const ALL_BADGES: number = all(BADGES)

/** Permissions of a moderator in projects of which they are not a member. */
export const MODERATOR_PROJECT_PERMISSIONS: number =
  PROJECT_PERMISSIONS.EDIT_DETAILS | PROJECT_PERMISSIONS.EDIT_BODY | PROJECT_PERMISSIONS.UPLOAD_VERSION

/** Permissions of a moderator in organizations of which they are not a member. */
export const MODERATOR_ORGANIZATION_PERMISSIONS: number =
  ORGANIZATION_PERMISSIONS.EDIT_DETAILS | ORGANIZATION_PERMISSIONS.ADD_PROJECT

/** Whether project permission bits include the named one. */
export function hasProjectPermission(bits: number, name: ProjectPermission): boolean {
  return (bits & PROJECT_PERMISSIONS[name]) !== 0
}

/** Whether organization permission bits include the named one. */
export function hasOrganizationPermission(bits: number, name: OrganizationPermission): boolean {
  return (bits & ORGANIZATION_PERMISSIONS[name]) !== 0
}

/** Returns the names of the badges in a bit field. */
export function badgesOf(bits: number): Badge[] {
  return (Object.keys(BADGES) as Badge[]).filter((badge) => hasBadge(bits, badge))
}

/** Whether badge bits include the named one. */
export function hasBadge(bits: number, name: Badge): boolean {
  return (bits & BADGES[name]) !== 0
}

/** Whether all bits of `inner` are in `outer`. A caller can only grant permissions that they have. */
export function isBitSubset(inner: number, outer: number): boolean {
  return (inner & ~outer) === 0
}
