import { describeTrimmedService } from '../support/trimmed-service.js'
import { startJournalCluster } from './journal-cluster.js'

describeTrimmedService(
  'Restate',
  async (directory) => {
    const { env, remove } = await startJournalCluster(directory)
    return { journalFile: String(env.COUNTERSIGN_JOURNAL_FILE), remove }
  },
  { kills: 2, engineBytes: 'unknown' },
)
