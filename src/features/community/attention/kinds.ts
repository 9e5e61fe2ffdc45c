// The kinds of items that need the attention of a publisher.

/** Most urgent first. */
export const ATTENTION_KINDS = [
  'moderator_message',
  'quarantined_version',
  'failed_scan',
  'invitation',
  'paused_upload',
  'incomplete_draft',
  'scheduled',
  'report_reply',
  'withdrawn_dependency',
  'unsupported_game_version',
] as const
export type AttentionKind = (typeof ATTENTION_KINDS)[number]

/** Kinds that the user can dismiss. Their subject is a project. */
export const DISMISSIBLE_KINDS = ['incomplete_draft', 'withdrawn_dependency', 'unsupported_game_version'] as const
export type DismissibleKind = (typeof DISMISSIBLE_KINDS)[number]

export const isDismissible = (kind: string): kind is DismissibleKind =>
  (DISMISSIBLE_KINDS as readonly string[]).includes(kind)
