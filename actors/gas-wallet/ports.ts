import type { Chains } from '../../src/chains/access.js'
import type { CoSigner } from '../../src/custody/co-signer.js'
import type { ExecutionGas } from '../../src/defi/execution-gas.js'
import type { Reader } from '../../src/store/reader.js'
import type { Envelope } from '../runtime/actor.js'

/** What a gas wallet's effects reach. */
export interface GasWalletPorts {
  readonly reader: Reader
  readonly chains: Chains
  readonly coSigner: CoSigner
  readonly executionGas: ExecutionGas
  readonly tell: (envelope: Envelope) => void
  readonly log: { warn(context: object, message: string): void }
  readonly nowMs: () => number
}
