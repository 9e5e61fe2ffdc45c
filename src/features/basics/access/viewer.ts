// The account of a request's token, for policies. `null`: an anonymous caller.
import { ApiError } from '#lib/errors.ts'
import type { ScopeBits } from './scopes.ts'

export type Role = 'developer' | 'moderator' | 'admin'

/**
 * Resources of a fine-grained token, by ID: these projects, and these organizations with all their projects. Everywhere
 * else, its account counts as somebody who is not a member.
 */
export type TokenLimits = { readonly projects: readonly string[]; readonly organizations: readonly string[] }

export type Viewer = {
  readonly id: string
  readonly role: Role
  /** The role of an account that has only the role developer until it uses two-factor sign-in (`require_staff_two_factor`). */
  readonly withheldRole?: Role
  readonly emailVerified: boolean
  /** Whether a moderator must approve the account before it can publish. Default: false */
  readonly awaitsApproval?: boolean
  /** Scopes of the token. A session has every scope. */
  readonly scopes: ScopeBits
  /** Key of the caller's IP address (`addressKey`), for queues that serve callers in turn. */
  readonly caller: string
  /** IP address of the caller, for the audit log. */
  readonly address: string
  /** `publisherId`: the trusted publisher of a build's token. */
  readonly token: {
    readonly kind: 'session' | 'pat' | 'oauth' | 'code-host' | 'publisher'
    readonly id: string
    readonly publisherId?: string
  }
  /** Absent: the token is not limited to resources. */
  readonly limits?: TokenLimits
  /** ID of the member who created this token of a service account. The token never exceeds what they may do now. */
  readonly maker?: string
}

/** The properties of a viewer that determine their memberships. */
export type MembershipViewer = Pick<Viewer, 'id' | 'limits' | 'maker'>

/** Returns whether the token of the viewer includes an organization. */
export function coversOrganization({ limits }: Pick<Viewer, 'limits'>, id: string): boolean {
  return limits === undefined || limits.organizations.includes(id)
}

/** Returns whether the token of the viewer includes a project, which `organization_id` owns. */
export function coversProject(
  viewer: Pick<Viewer, 'limits'>,
  project: { id: string; organization_id: string | null },
): boolean {
  if (viewer.limits?.projects.includes(project.id) !== false) return true
  return project.organization_id !== null && coversOrganization(viewer, project.organization_id)
}

/** Moderators and admins. */
export function isModerator(viewer: Viewer | null): boolean {
  return viewer !== null && (viewer.role === 'moderator' || viewer.role === 'admin')
}

export function isAdmin(viewer: Viewer | null): boolean {
  return viewer !== null && viewer.role === 'admin'
}

/** @throws ApiError 403 that says why and how, if the viewer has this role only with two-factor sign-in. */
export function refuseWithheldRole({ withheldRole }: Viewer, role: 'moderator' | 'admin'): void {
  if (withheldRole === undefined || (role === 'admin' && withheldRole !== 'admin')) return
  throw new ApiError('forbidden', TWO_FACTOR_REQUIRED, { details: { two_factor_required: true } })
}

const TWO_FACTOR_REQUIRED =
  'Moderators and admins of this instance need two-factor sign-in. Turn it on in the settings of your account (/account/security)'
