import { createChainTimeBuffer } from '../clock/chain-time.js'
import { createRulesVersion } from '../screening/prepared-rules.js'
import { createQuorumReachBuffer } from '../service-custody/quorum-reach.js'
import { createVersionsBuffer } from '../store/versions.js'
import { createMeterBuffer } from '../wiring/meters.js'
import { createPathBuffer } from '../wiring/path-meter.js'

/** What the threads of the service show each other without a message; `WorkerStart` says of each. */
export function createSharedMemory(workers: number, chainIds: readonly number[]) {
  const threads = 1 + workers
  return {
    recordVersions: createVersionsBuffer(),
    rulesVersion: createRulesVersion(),
    walletVersions: createVersionsBuffer(),
    chainTime: createChainTimeBuffer(),
    quorumReach: createQuorumReachBuffer(workers),
    meters: createMeterBuffer(threads),
    path: createPathBuffer(threads, chainIds),
  }
}
