//! The people behind the phones: what the provider derives from a number, always the same for the same number.

use recado::domain::Phone;
use recado::policy::identity;
use sha2::{Digest, Sha256};

/// Names the provider gives as profiles: fictitious, short, of both languages of the page.
const NAMES: [&str; 24] = [
    "Ana", "Beto", "Clara", "Davi", "Elisa", "Fábio", "Gabi", "Heitor", "Iara", "João", "Kátia",
    "Lucas", "Marina", "Nando", "Olga", "Paulo", "Quésia", "Rui", "Sofia", "Tiago", "Úrsula",
    "Vera", "Yara", "Zeca",
];

/// Calling codes and their countries, longest first; other numbers belong to no country (`ZZ`).
const COUNTRIES: [(&str, &str); 11] = [
    ("351", "PT"),
    ("598", "UY"),
    ("595", "PY"),
    ("55", "BR"),
    ("52", "MX"),
    ("54", "AR"),
    ("56", "CL"),
    ("57", "CO"),
    ("34", "ES"),
    ("44", "GB"),
    ("1", "US"),
];

/// The business-scoped user id of this phone's owner: the country, a dot, 16 digits.
pub fn bsuid(phone: &Phone) -> String {
    let country = COUNTRIES
        .iter()
        .find(|(code, _)| phone.as_str().starts_with(code))
        .map_or("ZZ", |(_, country)| *country);
    let digits = number_from("bsuid", phone) % 10_000_000_000_000_000;
    format!("{country}.{digits:016}")
}

/// The name in this phone's profile.
pub fn name(phone: &Phone) -> &'static str {
    let index = number_from("name", phone) % NAMES.len() as u64;
    usize::try_from(index)
        .ok()
        .and_then(|index| NAMES.get(index))
        .copied()
        .unwrap_or("Ana")
}

/// The ids that a contact of the back end may have for this phone's owner.
pub fn contact_ids(phone: &Phone) -> [String; 2] {
    [identity::canonical(phone).to_string(), bsuid(phone)]
}

/// Whether a contact of the back end is this phone's owner.
pub fn is_contact(phone: &Phone, contact: &str) -> bool {
    contact_ids(phone)
        .iter()
        .any(|id| id == first_life(contact))
}

/// A contact's id without the suffix (`~2`) that a later life carries.
pub fn first_life(contact: &str) -> &str {
    contact.split_once('~').map_or(contact, |(id, _)| id)
}

fn number_from(purpose: &str, phone: &Phone) -> u64 {
    let digest = Sha256::new()
        .chain_update(purpose)
        .chain_update([0])
        .chain_update(phone.as_str())
        .finalize();
    digest
        .iter()
        .take(8)
        .fold(0, |number, byte| (number << 8) | u64::from(*byte))
}

#[cfg(test)]
mod tests {
    use recado::domain::Bsuid;

    use super::*;

    fn phone(digits: &str) -> Phone {
        Phone::parse(digits).unwrap()
    }

    #[test]
    fn the_same_phone_always_has_the_same_well_formed_bsuid() {
        let one = bsuid(&phone("5511900000001"));
        assert_eq!(one, bsuid(&phone("5511900000001")));
        assert_ne!(one, bsuid(&phone("5511900000002")));
        assert!(one.starts_with("BR."));
        assert!(Bsuid::parse(one).is_ok());
        assert!(bsuid(&phone("351910000001")).starts_with("PT."));
        assert!(bsuid(&phone("99900000001")).starts_with("ZZ."));
    }

    #[test]
    fn a_contact_is_recognised_by_phone_canonical_phone_bsuid_and_in_a_later_life() {
        let new = phone("5511900000001");
        let old = phone("551190000001");
        for (label, phone, contact, same) in [
            ("its phone", &new, "5511900000001".to_owned(), true),
            ("a second life", &new, "5511900000001~2".to_owned(), true),
            ("its BSUID", &new, bsuid(&new), true),
            ("the ninth digit", &old, "5511990000001".to_owned(), true),
            ("another phone", &new, "5511900000002".to_owned(), false),
            ("a prefix", &new, "551190000000".to_owned(), false),
        ] {
            assert_eq!(is_contact(phone, &contact), same, "{label}");
        }
    }
}
