import type { ExecutionGas } from '../../src/defi/execution-gas.js'
import type { Reader } from '../../src/store/reader.js'
import type { AccountPorts } from '../account/ports.js'
import type { Envelope } from '../runtime/actor.js'

/** What a gas wallet's effects reach. */
export interface GasWalletPorts extends AccountPorts {
  readonly reader: Reader
  readonly executionGas: ExecutionGas
  readonly tell: (envelope: Envelope) => void
}
