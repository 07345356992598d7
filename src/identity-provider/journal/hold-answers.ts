import type { ServerResponse } from 'node:http'
import type { UserSideJournal } from './writer.js'

/** The parts of the journal that answers of this process wait for. */
export type Settling = Pick<UserSideJournal, 'settled' | 'isLeader'>

/**
 * Sends an answer only once the journal has every earlier write; if that fails, it is never sent.
 * Handlers of the login write their answer in `end`.
 */
export function holdAnswer(response: ServerResponse, { settled }: Settling): void {
  const end = response.end.bind(response) as (...ended: unknown[]) => ServerResponse
  Object.assign(response, {
    end(...ended: unknown[]) {
      const settling = settled()
      if (settling === null) return end(...ended)
      settling.then(
        () => end(...ended),
        () => response.destroy(),
      )
      return response
    },
  })
}

/** Answers for a process that may have lost leadership: it reads nothing and decides nothing. */
export function turnAway(response: ServerResponse): void {
  response.writeHead(503, { 'retry-after': '1', 'content-type': 'text/plain' })
  response.end(
    'Another node is taking over the login, or its journal does not answer. Try again in a moment.\n',
  )
}
