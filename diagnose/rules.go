package diagnose

// rules are all that are looked for, the more exact before the less exact where two say the same.
var rules = []Rule{
	pathFull, pmtuBlackhole, middlebox, noWindowScaling, receiveBufferFixed, receiveWindowLimited, sendBufferFixed, sendBufferLimited, applicationLimited, randomLoss, policer, shallowBuffer, duplexMismatch, outage, reorderingHarmful, reorderingBenign, noSACK, ackPathCongested, crossTraffic, smallMSS, slowStartLimited, bufferbloat,
	capacityUnknown, unexplained, noTransfer,
}
