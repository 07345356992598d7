import { describeJournal } from '../journal/conformance.js'
import { createRestateEngine } from '../support/restate-engine.js'

describeJournal('the journal in Restate, on one node', () => createRestateEngine(1))

describeJournal('the journal in Restate, on three nodes', () => createRestateEngine(3))
