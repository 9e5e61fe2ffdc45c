// Requests for the tests of all operations.
import {
  type Declared,
  icon,
  ids,
  ownUser,
  PICTURE,
  PROOF,
  type Sample,
  send,
  slug,
  viewAt,
} from '#test/api/operations/sample.ts'

export const SAMPLES: Record<string, Sample> = {
  listUsers: ids('owner'),
  searchUsers: { query: { query: 'person' } },
  getUserByEmail: { query: async (w) => ({ email: (await w.person('owner')).email }) },
  updateUser: { body: { bio: 'I make lanterns' } },
  setUserIcon: icon,
}

export const DECLARED: Record<string, Declared> = {
  updateUser: {
    view: ownUser,
    fields: {
      username: send(slug),
      bio: send('I make lanterns'),
      role: send('moderator', { by: 'admin', view: viewAt('/v3/user', 'owner') }),
      badges: send(128, { by: 'admin', view: viewAt('/v3/user', 'owner') }),
      payout_handle: send('lantern@example.org', { at: 'payout_data.payout_handle' }),
      allow_friend_requests: send(false),
      language: send('de'),
    },
    unseen: PROOF,
  },
  setUserIcon: { view: viewAt('/v3/user', 'owner'), unseen: { ext: PICTURE } },
}
