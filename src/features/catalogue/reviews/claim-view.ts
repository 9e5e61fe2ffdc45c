// Response schema of claims of moderators: of projects under review and of reported items.
import Type from 'typebox'
import { NamedObject, Nullable, Timestamp } from '#lib/schema/schema-parts.ts'

const CLAIM = {
  claimed_by: Nullable(
    Type.Object(
      { id: Type.String(), username: Type.String() },
      { title: 'ClaimHolder', description: 'Moderator who is reviewing the project or handling the reports' },
    ),
  ),
  claimed_until: Nullable(Timestamp),
}

export const ClaimView = NamedObject('ModerationClaim', CLAIM)

export type ClaimRow = { id: string; username: string; claimed_until: Date }

/** @param claim null if nobody has claimed it */
export function toClaimView(claim: { id: string; username: string; claimed_until: Date | string } | null) {
  return claim === null
    ? { claimed_by: null, claimed_until: null }
    : {
        claimed_by: { id: claim.id, username: claim.username },
        claimed_until: new Date(claim.claimed_until).toISOString(),
      }
}
