import type { Replan } from '../../src/defi/replan.js'
import type { NewAuditRecord } from '../../src/domain/audit.js'
import type { FreezeBook } from '../../src/domain/freeze-book.js'
import type { KeyId, SubWalletId } from '../../src/domain/ids.js'
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

/** What a sub-wallet's effects reach: the only way out of its actor. */
export interface SubWalletPorts extends AccountPorts {
  readonly reader: Reader
  readonly prices: PriceSource
  readonly quoter: Quoter
  readonly receipts: ReceiptValuer
  readonly screener: Screener
  readonly tell: (envelope: Envelope) => void
  /** Of this thread; the actor of the user's freezes, which lives on it, keeps it. */
  readonly freezes: Pick<FreezeBook, 'of'>
  /** Of this thread; the actor of the user's breakers, which lives on it, keeps it. */
  readonly userBreakers: Pick<UserBreakerBook, 'of'>
  /** Null: no call may wait for a person, and what its policy asks about is refused. */
  readonly approvals: ApprovalPort | null
  /** What the venue offers now for a sponsored call that waited; never rejects. */
  readonly replan: Replan
  readonly keyChanged: (secretHash: string) => void
  readonly versions: Pick<Versions<SubWalletId>, 'countUp'>
  /** Takes entries that no commit waits for. */
  readonly auditLog: { note(record: NewAuditRecord): void; settleSoon(keyId: KeyId): void }
}
