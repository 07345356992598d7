import type { Replan } from '../../src/defi/replan.js'
import type { NewAuditRecord } from '../../src/domain/audit.js'
import type { FreezeBook } from '../../src/domain/freeze-book.js'
import type { GasBook } from '../../src/domain/gas-book.js'
import type { KeyId, SubWalletId, UserId } from '../../src/domain/ids.js'
import type { GasBudgets } from '../../src/domain/sponsored-gas.js'
import type { UserBreakerBook } from '../../src/domain/user-breaker-book.js'
import type { PriceSource } from '../../src/pricing/price-source.js'
import type { Screener } from '../../src/screening/screener.js'
import type { ApprovalPort } from '../../src/service-custody/approval-port.js'
import type { Reader } from '../../src/store/reader.js'
import type { Versions } from '../../src/store/versions.js'
import type { Quoter } from '../../src/valuation/quoter.js'
import type { ReceiptValuer } from '../../src/valuation/receipt-valuer.js'
import type { AccountPorts } from '../account/ports.js'
import type { Envelope } from '../runtime/actor.js'

/** Everything that a sub-wallet's effects may call: the only way out of its actor. */
export interface SubWalletPorts extends AccountPorts {
  readonly reader: Reader
  readonly prices: PriceSource
  readonly quoter: Quoter
  readonly receipts: ReceiptValuer
  readonly screener: Screener
  readonly tell: (envelope: Envelope) => void
  /** The freezes of this thread's users; the freezes actor on the same thread maintains them. */
  readonly freezes: Pick<FreezeBook, 'of'>
  /** The breakers of this thread's users; the breakers actor on the same thread maintains them. */
  readonly userBreakers: Pick<UserBreakerBook, 'of'>
  /** The gas use of this thread's users, including all their wallets. */
  readonly gasBook: GasBook
  readonly gasBudgets: GasBudgets
  /** Null when no call may wait for a person: calls that need approval are then refused. */
  readonly approvals: ApprovalPort | null
  /** Gets the venue's present offer for a sponsored call that waited; never rejects. */
  readonly replan: Replan
  readonly keyChanged: (secretHash: string) => void
  /** Counts up a user's version when its wallets' use of the gas budget changes. */
  readonly versions: Pick<Versions<SubWalletId | UserId>, 'countUp'>
  /** Takes audit entries that no commit waits for. */
  readonly auditLog: { note(record: NewAuditRecord): void; settleSoon(keyId: KeyId): void }
}
