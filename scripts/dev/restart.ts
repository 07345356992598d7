import { setTimeout as delay } from 'node:timers/promises'
import { z } from 'zod'
import { instancePid } from './home/instance-lock.js'
import { readJsonFile } from './home/json-file.js'
import { devHome } from './home/layout.js'

/** `countersign restart`: a new wallet service takes over in the running instance. */

const POLL_MS = 100
/** Enough time to start, to see the old one end, and to serve. */
const TAKES_OVER_MS_MAX = 210_000

const dev = z.object({ pids: z.object({ service: z.int().nullable() }) })

try {
  const home = devHome(process.env)
  const pid = instancePid(home)
  if (pid === null) throw new Error(`nothing runs in ${home.root}: see countersign start`)
  const servicePid = () => readJsonFile(home.devFile, dev)?.pids.service ?? null
  const before = servicePid()
  if (before === null) throw new Error(`what runs in ${home.root} is not up yet`)
  process.kill(pid, 'SIGUSR2')
  const deadlineMs = performance.now() + TAKES_OVER_MS_MAX
  while ([before, null].includes(servicePid())) {
    if (instancePid(home) === null) throw new Error('the instance has ended')
    if (performance.now() > deadlineMs) {
      throw new Error('the wallet service was not replaced; the instance itself says why')
    }
    await delay(POLL_MS)
  }
  process.stdout.write(`a new wallet service (pid ${servicePid()}) has taken over\n`)
} catch (error) {
  process.stderr.write(`countersign: ${error instanceof Error ? error.message : String(error)}\n`)
  process.exitCode = 1
}
