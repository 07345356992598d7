import { createChainTimeBuffer } from '../clock/chain-time.js'
import { createRulesVersion } from '../screening/prepared-rules.js'
import { createQuorumReachBuffer } from '../service-custody/quorum-reach.js'
import { createVersionsBuffer } from '../store/versions.js'
import { createMeterBuffer } from '../wiring/meters.js'
import { createPathBuffer } from '../wiring/path-meter.js'

/** Creates the buffers that the service's threads share; `WorkerStart` describes each one. */
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
