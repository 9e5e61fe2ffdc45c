// The messages in English. docs/contributors/site.md lists the files.
import account from './en/account.json' with { type: 'json' }
import advisories from './en/advisories.json' with { type: 'json' }
import collections from './en/collections.json' with { type: 'json' }
import common from './en/common.json' with { type: 'json' }
import manage from './en/manage.json' with { type: 'json' }
import moderate from './en/moderate.json' with { type: 'json' }
import notifications from './en/notifications.json' with { type: 'json' }
import numbers from './en/numbers.json' with { type: 'json' }
import operate from './en/operate.json' with { type: 'json' }
import ops from './en/ops.json' with { type: 'json' }
import organizations from './en/organizations.json' with { type: 'json' }
import people from './en/people.json' with { type: 'json' }
import project from './en/project.json' with { type: 'json' }
import publish from './en/publish.json' with { type: 'json' }
import reports from './en/reports.json' with { type: 'json' }
import revenue from './en/revenue.json' with { type: 'json' }
import site from './en/site.json' with { type: 'json' }
import upload from './en/upload.json' with { type: 'json' }
import webhooks from './en/webhooks.json' with { type: 'json' }
import work from './en/work.json' with { type: 'json' }

export const english = {
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
