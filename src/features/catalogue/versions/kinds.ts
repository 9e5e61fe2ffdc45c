// Enum values of versions, files and dependencies.

export const VERSION_TYPES = ['release', 'beta', 'alpha'] as const

export const FILE_TYPES = [
  'required-resource-pack',
  'optional-resource-pack',
  'sources-jar',
  'dev-jar',
  'javadoc-jar',
  'signature',
  'unknown',
] as const
export type FileType = (typeof FILE_TYPES)[number]

export const DEPENDENCY_TYPES = ['required', 'optional', 'incompatible', 'embedded'] as const

/** Reasons for the withdrawal of a version. `superseded`: another version should be used. */
export const WITHDRAWAL_KINDS = ['broken', 'security', 'legal', 'superseded'] as const
