import type { Chains } from '../../src/chains/access.js'
import type { Timers } from '../../src/clock/timers.js'
import type { CoSigner } from '../../src/service-custody/co-signer.js'

/** Everything that an account's effects may call. */
export interface AccountPorts {
  readonly chains: Chains
  readonly coSigner: CoSigner
  readonly log: { warn(context: object, message: string): void }
  readonly timers: Timers
}
