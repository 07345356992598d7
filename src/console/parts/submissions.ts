/** A request that must be carried out once. */
export interface Submission<W> {
  /** Idempotency key for these terms only. */
  readonly id: string
  readonly terms: W
}

export interface Submissions<W> {
  /** The same request as before if the terms are equal. */
  for(terms: W): Submission<W>
  /**
   * Call it when the request is sent: equal terms then mean this request, even after the page is
   * reloaded.
   */
  sent(submission: Submission<W>): void
  /** Call it when the request was carried out: equal terms then mean a new request. */
  done(submission: Submission<W>): void
}

/** Ids of requests under way, by their terms. */
export interface Unanswered {
  idOf(text: string): string | null
  sent(text: string, id: string): void
  answered(text: string): void
}

/** The requests of one form, distinguished by their terms. */
export function submissionsOf<W>(newId: () => string, unanswered: Unanswered): Submissions<W> {
  let current: { readonly text: string; readonly submission: Submission<W> } | null = null
  return {
    for(terms) {
      const text = JSON.stringify(terms)
      if (current?.text !== text) {
        current = { text, submission: { id: unanswered.idOf(text) ?? newId(), terms } }
      }
      return current.submission
    },
    sent({ id, terms }) {
      unanswered.sent(JSON.stringify(terms), id)
    },
    done({ terms }) {
      unanswered.answered(JSON.stringify(terms))
      current = null
    },
  }
}
