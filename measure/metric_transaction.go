package measure

// Transactions: a program asks, and waits for the answer.
const (
	TransactionMin    Metric = "transaction_min_seconds"
	TransactionMedian Metric = "transaction_median_seconds"
	TransactionP95    Metric = "transaction_p95_seconds"
	TransactionMax    Metric = "transaction_max_seconds"
	TransactionIdeal  Metric = "transaction_ideal_seconds" // what round trips, and bytes where a rate is known, come to

	TransactionsDone   Metric = "transactions_count"
	TransactionsFailed Metric = "transactions_failed_count"

	ConnectMin    Metric = "connect_min_seconds" // of the connections that they were made on
	ConnectMedian Metric = "connect_median_seconds"
	ConnectMax    Metric = "connect_max_seconds"

	RequestGather Metric = "request_gather_seconds" // at the far end, from the first byte of a request to its last
	AnswerTime    Metric = "answer_seconds"         // at the far end, from there until the answer was handed over

	FirstByte Metric = "first_byte_seconds" // from a request to a server to the first byte of its answer

	HandshakeTime   Metric = "handshake_median_seconds" // of TLS
	CertificateLeft Metric = "certificate_left_seconds" // until it expires; below 0: since

	TransactionTimes Metric = "transaction_seconds" // the distributions
	ConnectTimes     Metric = "connect_seconds"
)

func transactionMetrics() []Definition {
	return []Definition{
		{Metric: TransactionMedian, Label: "Transaction, median", Group: "Transactions", Better: BetterLow, Follows: FollowsTrip,
			Merge: quantileOf(TransactionTimes, 0.5),
			Help:  "Median time of a request and its answer, with the opening of a connection where each has its own.",
			Text: "Half of the transactions took less, half more. It is what somebody waits who asks once and needs the answer " +
				"to go on.",
			Shows:  "Beside the ideal of the same test it shows what is added to the path: 40 ms and more are those of a timer.",
			See:    []string{"transaction_ideal_seconds", "round-trip-time"},
			Source: "RFC 1122 section 4.2.3.2, RFC 896"},
		{Metric: TransactionMin, Label: "Transaction, minimum", Group: "Transactions", Better: BetterLow, Follows: FollowsTrip,
			Merge: quantileOf(TransactionTimes, 0),
			Help:  "Least time of a request and its answer.",
			Text:  "The transaction that went best. Well above the ideal, all of them wait for something.",
			See:   []string{"transaction_ideal_seconds", "round-trip-time"}},
		{Metric: TransactionP95, Label: "Transaction, 95th percentile", Group: "Transactions", Better: BetterLow, Follows: FollowsTrip,
			Merge: quantileOf(TransactionTimes, 0.95),
			Help:  "95th percentile of the time of a request and its answer.",
			Text:  "Nineteen transactions of twenty were over by then.",
			See:   []string{"transaction_median_seconds"}},
		{Metric: TransactionMax, Label: "Transaction, maximum", Group: "Transactions", Better: BetterLow, Follows: FollowsTrip,
			Merge: quantileOf(TransactionTimes, 1),
			Help:  "Most time of a request and its answer.",
			Text: "The transaction that took longest. One lost packet decides it: nothing follows that would show the loss, so " +
				"TCP waits for its retransmission timer, 200 ms at the least on Linux.",
			Shows:  "200 ms and more above the median are a lost packet; 1 s and 3 s a lost SYN.",
			See:    []string{"loss", "transaction_median_seconds"},
			Source: "RFC 6298"},
		{Metric: TransactionIdeal, Label: "Transaction, ideal", Group: "Transactions", Better: BetterLow, Follows: FollowsTrip,
			Help: "What a transaction takes by its round trips, and by its bytes where the rate of the path is known.",
			Text: "The least round trip of the test's connections, as often as the transaction needs one: for a connection of its " +
				"own, for each turn, and for each round of slow start; and the time of its bytes, where a rate was given.",
			See: []string{"transaction_median_seconds", "round-trip-time", "slow-start"}},
		{Metric: TransactionsDone, Label: "Transactions", Group: "Transactions", Follows: FollowsTrip,
			Help: "Transactions that came to their end.",
			Text: "How many requests were answered as a whole.",
			See:  []string{"transactions_failed_count"}},
		{Metric: TransactionsFailed, Label: "Transactions that failed", Group: "Transactions",
			Better: BetterLow, Follows: FollowsTrip, Draw: DrawBars,
			Help: "Transactions that did not come to their end in time.",
			Text: "How many found no connection, or no answer within the time-out, or lost their connection.",
			See:  []string{"transactions_count", "loss"}},
	}
}

// Times in seconds before a certificate expires: certificates of ninety days are renewed thirty before, so that at fourteen several attempts
// have failed; three are a weekend.
const (
	certificateWarn = 14 * 24 * 3600
	certificateBad  = 3 * 24 * 3600
)

// connectionMetrics are of the connections that transactions are made on, and of what the far end saw.
func connectionMetrics() []Definition {
	return []Definition{
		{Metric: ConnectMedian, Label: "Connection opened, median", Group: "Transactions", Better: BetterLow, Follows: FollowsTrip,
			Merge: quantileOf(ConnectTimes, 0.5),
			Help:  "Median time until a connection was open.",
			Text:  "From asking the kernel for a connection until it stands: a round trip, if the far end answers at once.",
			Shows: "Below the round trip of a ping, something nearer than the host answers in its place.",
			See:   []string{"round-trip-time", "middlebox"}},
		{Metric: ConnectMin, Label: "Connection opened, minimum", Group: "Transactions", Better: BetterLow, Follows: FollowsTrip,
			Merge: quantileOf(ConnectTimes, 0),
			Help:  "Least time until a connection was open.",
			Text:  "The connection that opened soonest.",
			See:   []string{"connect_median_seconds"}},
		{Metric: ConnectMax, Label: "Connection opened, maximum", Group: "Transactions", Better: BetterLow, Follows: FollowsTrip,
			Merge: quantileOf(ConnectTimes, 1),
			Help:  "Most time until a connection was open.",
			Text:  "The connection that opened last. Its SYN is sent again after 1 s, and after 3 s, as often as none is answered.",
			Shows: "1 s and more: a SYN was lost, or the far end had no room for one more connection and dropped it.",
			See:   []string{"connect_median_seconds", "loss"}, Source: "RFC 6298"},
		{Metric: RequestGather, Label: "Request coming together", Group: "Transactions", Better: BetterLow, Follows: FollowsTrip,
			Help: "Mean time at the far end from the first byte of a request to its last.",
			Text: "How long the far end had a part of a request and waited for the rest.",
			Shows: "Tens of milliseconds for a small request: its pieces were written one by one, and the second waited until the " +
				"first was acknowledged.",
			See: []string{"transaction_median_seconds"}, Source: "RFC 896"},
		{Metric: AnswerTime, Label: "Answer made", Group: "Transactions", Better: BetterLow, Follows: FollowsTrip,
			Help: "Mean time at the far end from the last byte of a request until its answer was handed over.",
			Text: "What the far end itself took. A Pathwise responder takes microseconds: what a transaction takes beyond its round " +
				"trips is not this.",
			See: []string{"transaction_median_seconds"}},
		{Metric: FirstByte, Label: "First byte of an answer", Group: "Transactions", Better: BetterLow, Follows: FollowsTrip,
			Help:  "Median time from a request to a web server until its answer begins.",
			Text:  "A round trip, and what the server takes to begin: to find the file, and to read its first part from a disk.",
			Shows: "Far above the round trip, the server is slow and the path is not.",
			See:   []string{"round-trip-time", "transaction_median_seconds"}},
		{Metric: HandshakeTime, Label: "TLS handshake, median", Group: "Transactions", Better: BetterLow, Follows: FollowsTrip,
			Help:  "Median time of the handshake of TLS, on a connection that is open.",
			Text:  "One round trip with TLS 1.3, two with 1.2, and what the server takes to sign.",
			Shows: "Well above the time to connect times the round trips, the server is busy, or its chain of certificates takes more than one window.",
			See:   []string{"connect_median_seconds", "round-trip-time"}, Source: "RFC 8446 section 2"},
		{Metric: CertificateLeft, Label: "Certificate good for", Group: "Transactions", Better: BetterHigh, Follows: FollowsTrip,
			Warn: certificateWarn, Bad: certificateBad, Draw: DrawLine,
			Help:  "Time until the certificate of the server expires; below zero, since it has.",
			Text:  "By the clock of the host that asked. Most certificates are renewed by a program a month before they end.",
			Shows: "Less than two weeks: what should renew it does not run. Below zero, clients refuse the server, however well the path works.",
			See:   []string{"handshake_median_seconds"}, Source: "RFC 5280 section 4.1.2.5"},
	}
}
