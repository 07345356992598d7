import type { Drill } from '../domain/drill.js'

/** The request header by which a caller of a test environment requests a fault. */
export const FAULT_HEADER = 'Countersign-Fault'

/** The effect of each fault on the write that requests it, as documented to callers. */
export const FAULTS: Readonly<Record<Drill, string>> = {
  'slow-node': 'the node takes five seconds to take the broadcast, and so does the answer',
  'dropped-broadcast':
    'the first three broadcasts are lost: the answer is `202` with `signed`, and the service goes on trying until it lands',
  reorg:
    'two seconds after it was confirmed it is told to be in no block: it is `broadcast` again and then confirmed once more. The chain itself is left as it is',
  'feed-stale': '`422 PRICE_UNAVAILABLE`, as when no price feed of the chain is fresh',
  'cosigner-away': '`503 COSIGNER_UNAVAILABLE`, and nothing stays reserved',
  'screening-away': '`503 SCREENING_UNAVAILABLE`, and nothing stays reserved',
}
