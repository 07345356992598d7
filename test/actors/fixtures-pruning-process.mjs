/**
 * Removes old records from a store, and says after each step that it did; to be killed meanwhile,
 * and after two steps by itself, since whoever is to kill it may be late.
 */
import { createEventNeeds } from '../../dist/actors/retention/event-needs.js'
import { openEnvironment } from '../../dist/src/store/environment.js'
import { createReader } from '../../dist/src/store/reader.js'
import { prunePass } from '../../dist/src/store/retention/prune-store.js'

const [directory = '', nowMs = '0', keptMs = '0'] = process.argv.slice(2)
const environment = openEnvironment(directory)
const reader = createReader(environment)
const context = { environment, reader, needs: createEventNeeds(reader) }
const retention = { deliveriesMs: null, eventsMs: Number(keptMs), auditMs: Number(keptMs) }
let steps = 0
for (const { events, audit } of prunePass(context, retention, Number(nowMs), 'remove')) {
  process.send?.({ events, audit })
  await new Promise(setImmediate)
  if (++steps === 2) process.kill(process.pid, 'SIGKILL')
}
await environment.root.close()
process.disconnect()
