// The messages in German.
import account from './de/account.json' with { type: 'json' }
import advisories from './de/advisories.json' with { type: 'json' }
import collections from './de/collections.json' with { type: 'json' }
import common from './de/common.json' with { type: 'json' }
import manage from './de/manage.json' with { type: 'json' }
import moderate from './de/moderate.json' with { type: 'json' }
import notifications from './de/notifications.json' with { type: 'json' }
import numbers from './de/numbers.json' with { type: 'json' }
import operate from './de/operate.json' with { type: 'json' }
import ops from './de/ops.json' with { type: 'json' }
import organizations from './de/organizations.json' with { type: 'json' }
import people from './de/people.json' with { type: 'json' }
import project from './de/project.json' with { type: 'json' }
import publish from './de/publish.json' with { type: 'json' }
import reports from './de/reports.json' with { type: 'json' }
import revenue from './de/revenue.json' with { type: 'json' }
import site from './de/site.json' with { type: 'json' }
import upload from './de/upload.json' with { type: 'json' }
import webhooks from './de/webhooks.json' with { type: 'json' }
import work from './de/work.json' with { type: 'json' }

export const german = {
  ...account,
  ...advisories,
  ...collections,
  ...common,

  ...manage,
  ...moderate,
  ...numbers,
  ...operate,
  ...ops,
  ...notifications,
  ...organizations,
  ...people,
  ...project,
  ...publish,

  ...reports,
  ...revenue,
  ...site,
  ...upload,
  ...webhooks,
  ...work,
}
