import { describeJournal } from '../journal/conformance.js'
import { describeSnapshots } from '../journal/snapshot-conformance.js'
import { createRestateEngine } from '../support/restate-engine.js'

describeJournal('the journal in Restate, on one node', () => createRestateEngine(1))

describeJournal('the journal in Restate, on three nodes', () => createRestateEngine(3))

describeSnapshots('snapshots in Restate, on three nodes', () => createRestateEngine(3))
