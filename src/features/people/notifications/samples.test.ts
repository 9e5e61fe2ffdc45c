// Requests for the tests of all operations.
import { type Declared, ids, NAMES, type Sample, send, shows, viewAt } from '#test/api/operations/sample.ts'

export const SAMPLES: Record<string, Sample> = {
  listUserNotifications: shows('notification'),
  updateNotificationSettings: { body: { email: { invitation: true } } },
  listNotifications: ids('notification'),
  markNotificationsRead: ids('notification'),
  deleteNotifications: ids('notification'),
}

export const DECLARED: Record<string, Declared> = {
  updateNotificationSettings: {
    view: async (read, world) => read(`/v3/user/${await world.id('owner')}/notification-settings`),
    fields: { email: send({ project_update: true }, { at: 'email.project_update', shows: true }) },
  },
  markNotificationsRead: { view: viewAt('/v3/notification', 'notification'), unseen: { ids: NAMES } },
}
