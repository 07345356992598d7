import type { ExecutionGas } from '../../src/defi/execution-gas.js'
import type { FreezeBook } from '../../src/domain/freeze-book.js'
import type { Reader } from '../../src/store/reader.js'
import type { AccountPorts } from '../account/ports.js'
import type { Envelope } from '../runtime/actor.js'

/** What a gas wallet's effects reach. */
export interface GasWalletPorts extends AccountPorts {
  /** Number of the cell that this service owns. */
  readonly cell: number
  readonly reader: Reader
  readonly executionGas: ExecutionGas
  /** Of this thread, which is told of all users' freezes. */
  readonly freezes: Pick<FreezeBook, 'freezeOf'>
  readonly tell: (envelope: Envelope) => void
}
