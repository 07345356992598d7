import type { Actors } from '../../actors/protocols.js'
import type { Chains } from '../chains/access.js'
import type { Timers } from '../clock/timers.js'
import type { ApprovalSought, RecordedApproval } from '../custody/evidence/find-approvals.js'
import type { ServiceMembers } from '../custody/members/service-members.js'
import type { QuoteBook } from '../defi/quote-book.js'
import type { SharePriceHistory } from '../defi/share-price-history.js'
import type { SwapVenue } from '../defi/swap-venue.js'
import type { VaultVenue } from '../defi/vault-venue.js'
import type { Environment } from '../domain/api-key.js'
import type { FreezeBook } from '../domain/freeze-book.js'
import type { KeyId, SubWalletId, UserId } from '../domain/ids.js'
import type { Quotas } from '../domain/quotas.js'
import type { PriceSource } from '../pricing/price-source.js'
import type { ListOwner } from '../screening/lists/list-owner.js'
import type { Screener } from '../screening/screener.js'
import type { Reader } from '../store/reader.js'
import type { Quoter } from '../valuation/quoter.js'
import type { WebhookTargets } from '../webhooks/target-address.js'
import type { AnsweredSends } from './answered-sends.js'
import type { MailReach } from './console/alert-channels.js'
import type { InvitationMail } from './console/invitation-mail.js'
import type { PendingGrants } from './console/pending-grants.js'
import type { ServiceFigures } from './console/service-status.js'

/** The ports of operations. They read the store; only actors write it. */
export interface OperationPorts {
  readonly reader: Reader
  /** Keeps `reader` from showing less than was answered. */
  readonly answeredSends: Pick<AnsweredSends, 'note'>
  readonly actors: Actors
  /** Changes before the wallet's actor decides; for a user, when its wallets count sponsored gas. */
  readonly walletVersions: { counterOf(id: SubWalletId | UserId): () => number }
  readonly chains: Chains
  /** Whether a chain's Router was verified to be ours; sponsored calls need one. */
  readonly hasRouter: (chainId: number) => boolean
  readonly prices: PriceSource
  readonly quoter: Quoter
  readonly screener: Screener
  /** The state of the screener's lists, for people. */
  readonly screeningLists: Pick<ListOwner, 'status' | 'listsWith'>
  readonly swapVenue: SwapVenue
  readonly vaultVenue: VaultVenue
  readonly sharePrices: SharePriceHistory
  readonly quotes: QuoteBook
  readonly pendingGrants: PendingGrants
  readonly environment: Environment
  /** The quotas of each user. */
  readonly quotas: Quotas
  /** The members of each account, as this service knows them. */
  readonly members: Pick<ServiceMembers, 'members' | 'accountsOf'>
  /** Finds an approval in the evidence that the service keeps of what both domains approved. */
  readonly recordedApproval: (sought: ApprovalSought) => RecordedApproval | null
  /** The freezes that the workers last reported. */
  readonly freezes: FreezeBook
  /** Newest block of a chain; null before the first. */
  readonly headOf: (chainId: number) => number | null
  /** The last place of the user's event log that may be shown. */
  readonly readableSeq: (userId: UserId) => number
  /** To the minute; null for a key never used. */
  readonly keyLastUsedAtMs: (keyId: KeyId) => number | null
  /** Drops what authentication cached of a key. */
  readonly forgetKey: (secretHash: string) => void
  readonly webhookTargets: WebhookTargets
  readonly mail: MailReach | null
  readonly mailInvitation: InvitationMail
  /** Figures of the whole instance, for people. */
  readonly figures: ServiceFigures
  readonly timers: Timers
  /** The clock of `timers`, for code that gets nothing else of it. */
  readonly nowMs: () => number
}
