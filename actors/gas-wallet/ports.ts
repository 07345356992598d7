import type { ExecutionGas } from '../../src/defi/execution-gas.js'
import type { FreezeBook } from '../../src/domain/freeze-book.js'
import type { Reader } from '../../src/store/reader.js'
import type { AccountPorts } from '../account/ports.js'
import type { Envelope } from '../runtime/actor.js'

/** Everything that a gas wallet's effects may call. */
export interface GasWalletPorts extends AccountPorts {
  /** The number of the cell that this service leads. */
  readonly cell: number
  readonly reader: Reader
  readonly executionGas: ExecutionGas
  /** The freezes in this thread, which receives those of all users. */
  readonly freezes: Pick<FreezeBook, 'freezeOf'>
  readonly tell: (envelope: Envelope) => void
}
