import type { JSX } from 'preact'
import { OverviewPage } from './pages/overview.js'
import { lazyPage } from './parts/lazy-page.js'

/** All pages but the first are loaded when they are visited, or when the browser is idle. */
const ApprovalsPage = lazyPage(async () => (await import('./pages/approvals.js')).ApprovalsPage)
const AgentsPage = lazyPage(async () => (await import('./pages/agents.js')).AgentsPage)
const PolicyPage = lazyPage(async () => (await import('./pages/policy.js')).PolicyPage)
const TransactionsPage = lazyPage(
  async () => (await import('./pages/transactions.js')).TransactionsPage,
)
const TransactionPage = lazyPage(
  async () => (await import('./pages/transaction.js')).TransactionPage,
)
const WalletsPage = lazyPage(async () => (await import('./pages/wallets.js')).WalletsPage)
const WebhooksPage = lazyPage(async () => (await import('./pages/webhooks.js')).WebhooksPage)
const WebhookPage = lazyPage(async () => (await import('./pages/webhook.js')).WebhookPage)
const AuditPage = lazyPage(async () => (await import('./pages/audit.js')).AuditPage)
const MembersPage = lazyPage(async () => (await import('./pages/members.js')).MembersPage)
const ListsPage = lazyPage(async () => (await import('./pages/lists.js')).ListsPage)
const OperationsPage = lazyPage(async () => (await import('./pages/operations.js')).OperationsPage)
const PlaygroundPage = lazyPage(async () => (await import('./pages/playground.js')).PlaygroundPage)

/** Every page in one line, in the order of the navigation. */
interface PageRoute {
  /** Path below `/console`; the page reads a `:name` segment with `useParams`. */
  readonly path: string
  /** Null for a page that is reached only from another page. */
  readonly nav: string | null
  readonly component: () => JSX.Element
}

export const PAGES: readonly PageRoute[] = [
  { path: '/', nav: 'Overview', component: OverviewPage },
  { path: '/approvals', nav: 'Approvals', component: ApprovalsPage },
  { path: '/keys', nav: 'Agents & keys', component: AgentsPage },
  { path: '/keys/:id/policy', nav: null, component: PolicyPage },
  { path: '/transactions', nav: 'Transactions', component: TransactionsPage },
  { path: '/transactions/:txId', nav: null, component: TransactionPage },
  { path: '/wallets', nav: 'Wallets', component: WalletsPage },
  { path: '/webhooks', nav: 'Webhooks & alerts', component: WebhooksPage },
  { path: '/webhooks/:webhookId', nav: null, component: WebhookPage },
  { path: '/audit', nav: 'Audit', component: AuditPage },
  { path: '/members', nav: 'Members', component: MembersPage },
  { path: '/lists', nav: 'Lists', component: ListsPage },
  { path: '/operations', nav: 'Operations', component: OperationsPage },
  { path: '/playground', nav: 'Playground', component: PlaygroundPage },
]
