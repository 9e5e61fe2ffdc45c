// Permissions for the list of accounts.
import { hasScope } from '#features/basics/access/scopes.ts'
import { isAdmin, type Viewer } from '#features/basics/access/viewer.ts'

/** Returns whether the viewer sees email addresses; moderators see only their domains. */
export const seesEmails = (viewer: Viewer): boolean => isAdmin(viewer) && hasScope(viewer.scopes, 'USER_READ_EMAIL')
