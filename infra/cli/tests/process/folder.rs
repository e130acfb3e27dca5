//! Whose the data folder is: what is kept there is closed to others, and a folder that was there keeps its rights.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use crate::harness::Place;

fn mode(path: &Path) -> u32 {
    path.metadata().unwrap().permissions().mode() & 0o7777
}

fn set_mode(path: &Path, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

/// Every file of a folder that somebody else has a right to.
fn open_files(folder: &Path) -> Vec<String> {
    let files = std::fs::read_dir(folder).unwrap();
    let files = files.map(|file| file.unwrap().path());
    let open = files.filter(|file| mode(file) & 0o077 != 0);
    open.map(|file| format!("{} {:o}", file.display(), mode(&file)))
        .collect()
}

#[tokio::test]
async fn a_folder_that_it_makes_is_closed_to_others() {
    let place = Place::new();
    let instance = place.run().await;
    assert_eq!(mode(&place.data()), 0o700);
    assert_eq!(open_files(&place.data()), Vec::<String>::new());
    let printed = instance.stop().await;
    assert!(!printed.contains("may enter"), "{printed}");
}

#[tokio::test]
async fn a_folder_that_was_there_keeps_its_rights_and_its_files_are_closed() {
    let place = Place::new();
    std::fs::create_dir(place.data()).unwrap();
    set_mode(&place.data(), 0o1777);
    let instance = place.run().await;
    instance.write("5511900000051", "oi").await.unwrap();
    assert_eq!(mode(&place.data()), 0o1777);
    let names = [
        "recado.db",
        "recado.db-wal",
        "recado.url",
        "phone.jsonl",
        "hash.key",
    ];
    for name in names {
        assert!(place.data().join(name).exists(), "{name}");
    }
    assert_eq!(open_files(&place.data()), Vec::<String>::new());
    let printed = instance.stop().await;
    assert_eq!(
        printed.matches("may enter the data folder").count(),
        1,
        "{printed}"
    );

    // A copy or a backup gives everybody rights again.
    for file in std::fs::read_dir(place.data()).unwrap() {
        set_mode(&file.unwrap().path(), 0o644);
    }
    let again = place.run().await;
    assert_eq!(open_files(&place.data()), Vec::<String>::new());
    again.stop().await;
}
