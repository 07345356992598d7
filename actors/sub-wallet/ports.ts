import type { Chains } from '../../src/chains/access.js'
import type { CoSigner } from '../../src/custody/co-signer.js'
import type { AuditRecord } from '../../src/domain/audit.js'
import type { SubWalletId } from '../../src/domain/ids.js'
import type { PriceSource } from '../../src/pricing/price-source.js'
import type { Screener } from '../../src/screening/screener.js'
import type { Reader } from '../../src/store/reader.js'
import type { Versions } from '../../src/store/versions.js'
import type { Quoter } from '../../src/valuation/quoter.js'
import type { Envelope } from '../runtime/actor.js'

/** What a sub-wallet's effects reach: the only way out of its actor. */
export interface SubWalletPorts {
  readonly reader: Reader
  readonly chains: Chains
  readonly prices: PriceSource
  readonly quoter: Quoter
  readonly screener: Screener
  readonly coSigner: CoSigner
  readonly tell: (envelope: Envelope) => void
  readonly keyChanged: (secretHash: string) => void
  readonly versions: Pick<Versions<SubWalletId>, 'countUp'>
  readonly log: { warn(context: object, message: string): void }
  /** Takes entries that no commit waits for. */
  readonly auditLog: { note(record: AuditRecord): void }
  readonly nowMs: () => number
}
