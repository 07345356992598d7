import type { SharePriceSample } from '../../src/domain/share-price.js'
import type { ActorShell } from '../runtime/actor.js'

/** All stored samples of one vault; replaces the former ones. */
export interface SharePriceCommand {
  readonly type: 'share-prices-sampled'
  readonly vaultKey: string
  readonly samples: readonly SharePriceSample[]
}

/** Records what vaults' shares were worth, so that yields are known after a restart. */
export function createSharePriceShell(): ActorShell<
  null,
  SharePriceCommand,
  SharePriceCommand,
  never
> {
  return {
    kind: 'share-prices',
    load: () => null,
    decide: (_state, sampled) => ({ events: [sampled], effects: [], replies: [] }),
    record(writer, _state, events) {
      for (const { vaultKey, samples } of events) writer.putSharePrices(vaultKey, samples)
    },
    run() {},
    idle: () => true,
  }
}
