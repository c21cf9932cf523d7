package account

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/pathwise-net/pathwise/input"
)

// The rules follow NIST SP 800-63B: length is what counts, no classes of characters are asked for, and what everybody
// tries is refused. Its revision 3 (section 5.1.1.2) asks for 8 characters, revision 4 for 8 beside a second factor and
// 15 without. We have no second factor, but guessing is slowed much more than either asks (throttle.go); what remains
// is a stolen accounts.json. There 12 letters at random are out of reach (2^56 guesses of 64 MiB each), and 12 are what
// makes people take a phrase rather than one word.
const (
	// ShortestPassword is how long a password is at least.
	ShortestPassword = 12   // characters, as Unicode counts them
	longestPassword  = 1024 // bytes: a phrase of any length, and no work for us
	// addedToName is how many characters beside a name in it make no password.
	addedToName = 4
)

// common are the passwords of 12 characters and more that everybody tries first, in lower case; of lists of leaked
// passwords, what is left of the first thousands when the shorter ones are gone.
var common = []string{
	"000000000000", "012345678910", "0123456789ab", "0123456789abcdef", "101010101010", "111111111111", "111122223333",
	"112233445566", "121212121212", "123123123123", "123454321234", "123456123456", "123456654321",
	"1234567890-=", "123456789000", "123456789012", "1234567890123", "12345678901234", "123456789012345",
	"1234567890123456", "12345678901234567890", "123456789101112", "1234567891011", "123456789123", "123456789123456",
	"123456789abc", "1234567890ab", "1234567890qwerty", "123456789987654321", "123456qwerty", "123qwe123qwe", "123qweasdzxc",
	"1q2w3e4r5t6y", "1q2w3e4r5t6y7u", "1q2w3e4r5t6y7u8i", "1q2w3e4r5t6y7u8i9o0p", "1qaz1qaz1qaz", "1qaz2wsx3edc",
	"1qaz2wsx3edc4rfv", "1qazxsw23edc", "222222222222", "333333333333", "555555555555", "666666666666", "777777777777",
	"888888888888", "987654321098", "9876543210123", "999999999999", "a1b2c3d4e5f6", "a123456789012", "aaaaaaaaaaaa",
	"abc123abc123", "abc123456789", "abcd1234abcd", "abcdefghijkl", "abcdefghijklm", "abcdefghijklmnop", "admin1234567",
	"admin12345678", "administrator", "administrator1", "adminadminadmin", "alexander123", "asdfasdfasdf", "asdfghjkl123",
	"asdfghjkl;'\\", "asdfghjklqwe", "basketball12", "basketball123", "changemechangeme", "changeme1234", "changeme12345",
	"changemeplease", "charlie12345", "chocolate123", "christopher1", "computer1234", "correcthorsebatterystaple",
	"correct horse battery staple", "default12345", "defaultpassword", "dragon123456", "football1234", "football12345",
	"hello1234567", "helloworld12", "helloworld123", "iloveyou1234", "iloveyou12345", "iloveyouforever",
	"iloveyousomuch", "jennifer1234", "letmein12345", "letmein123456", "letmeinletmein", "letmeinplease", "liverpool123",
	"login1234567", "manchesterunited", "marlboro1234", "michael12345", "minecraft123", "monkey123456", "motdepasse123",
	"mypassword12", "mypassword123", "newpassword1", "newpassword123", "nothing12345", "p@ssw0rd1234", "p@ssword1234",
	"pass12345678", "passw0rd1234", "passwordpassword", "password0000", "password1111", "password1234", "password12345",
	"password123456", "password1234567", "password12345678", "password123456789", "password1234567890", "password2020",
	"password2021", "password2022", "password2023", "password2024", "password2025", "password2026", "passwort1234",
	"pokemon12345", "princess1234", "princess12345", "q1w2e3r4t5y6", "q1w2e3r4t5y6u7i8", "qazwsxedcrfv", "qazwsxedcrfvtgb",
	"qwe123qwe123", "qweasdzxc123", "qweqweqweqwe", "qwer1234qwer", "qwerasdfzxcv", "qwerty123456", "qwerty1234567",
	"qwerty12345678", "qwerty123456789", "qwerty654321", "qwertyqwerty", "qwertyuiop12", "qwertyuiop123", "qwertyuiop[]",
	"qwertyuiop1234567890", "qwertyuiopasdfgh", "qwertyuiopasdfghjkl", "qwertyuiopasdfghjklzxcvbnm", "rootrootroot",
	"secretsecret", "spiderman123", "starwars1234", "sunshine1234", "superman1234", "supervisor123", "testtesttest",
	"test12345678", "thisisapassword", "trustno1trustno1", "unbelievable", "universidad1", "volkswagen12", "welcome12345",
	"welcome123456", "welcomewelcome", "whatever1234", "zaq12wsxcde3", "zaq1zaq1zaq1", "zaq1xsw2cde3", "zxcvbnm12345",
	"zxcvbnm123456", "zxcvbnmasdfghjkl", "zzzzzzzzzzzz",
}

// CheckPassword says what is wrong with a password that the account of a name is to have.
func CheckPassword(name, password string) error {
	lower := strings.ToLower(password)
	switch {
	case len(password) > longestPassword:
		return input.Errorf("password: %d bytes, want at most %d", len(password), longestPassword)
	case !utf8.ValidString(password):
		return input.Errorf("password: want text in UTF-8")
	case utf8.RuneCountInString(password) < ShortestPassword:
		return input.Errorf("password: want %d characters or more; a phrase of four words is fine", ShortestPassword)
	case slices.Contains(common, lower):
		return input.Errorf("password: is one of those that everybody tries first; want another")
	}
	_, first := utf8.DecodeRuneInString(lower)
	for _, word := range []string{name, "pathwise", lower[:first]} {
		rest := strings.ReplaceAll(lower, strings.ToLower(word), "")
		if utf8.RuneCountInString(rest) <= addedToName {
			return input.Errorf("password: is little more than %q; want another", word)
		}
	}
	return nil
}
